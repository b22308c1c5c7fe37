// Package settings is the one configuration, kalan.yaml, as values: what the
// gateway enforces and the simulator rehearses. It has the types, their
// defaults and everything that can be wrong with them ([File.Validate]);
// cmd/internal/config reads YAML into it.
//
// It is for the rooms of this repository. Programs that use the library fill in
// a kalan.Config: a promise to keep the names of every block of the file would
// be made to nobody.
package settings
