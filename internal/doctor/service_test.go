package doctor

import "testing"

func TestWhereAServiceIsAsked(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", ":8080": "http://localhost:8080",
		"0.0.0.0:80": "http://localhost:80", "[::]:80": "http://localhost:80", "shop.lan:81": "http://shop.lan:81",
	} {
		if got := ServiceURL(listen); got != want {
			t.Errorf("%s: %s", listen, got)
		}
	}
}
