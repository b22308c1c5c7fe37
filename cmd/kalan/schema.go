package main

import (
	_ "embed" // for the schema

	"github.com/spf13/cobra"
)

// fileSchema is the JSON schema of kalan.yaml, with the doc comments of the
// fields. A test makes it from the types: go test ./cmd/kalan -run Schema -update
//
//go:embed kalan.schema.json
var fileSchema []byte

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of kalan.yaml",
		Long: `Print the JSON schema (draft 7) of kalan.yaml: every key, what it means, what it
takes and its default. Editors complete and check with it. For those that use
yaml-language-server, begin the file with

  # yaml-language-server: $schema=./kalan.schema.json`,
		Example: `  kalan schema > kalan.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(fileSchema)
			return err
		},
	}
}
