package states

import (
	"context"
	"encoding/json"
	"net/http"
)

// handlePlay answers a call of oc.
func (s *server) handlePlay(w http.ResponseWriter, r *http.Request) {
	var args []string
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a := s.play(context.WithoutCancel(r.Context()), args)
	if err := json.NewEncoder(w).Encode(a); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
