package crystalcmd

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/internal/terminal"
)

func (p *program) modelsCommand() *cobra.Command {
	var format formatOptions
	c := &cobra.Command{
		Use: "models", Short: "List the providers and their models", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			f, err := format.parse()
			if err != nil {
				return err
			}
			return p.listModels(f)
		},
	}
	format.add(c.Flags())
	return c
}

// modelRecord is one model as a line of JSON. A provider without listed models is one line without a model.
type modelRecord struct {
	Provider      string  `json:"provider"`
	Model         *string `json:"model"`
	Protocol      string  `json:"protocol"`
	ContextWindow *int    `json:"contextWindow"`
	ImageInput    *bool   `json:"imageInput"`
	Default       bool    `json:"default"`
	Key           *string `json:"key"` // where the key is; null when there is none
	Defined       string  `json:"defined"`
}

func (p *program) listModels(f terminal.Format) error {
	pl, err := p.open()
	if err != nil {
		return err
	}
	l := terminal.Listing{Columns: []string{"Provider", "Model", "Protocol", "Window", "Images", "Default", "Key", "Defined"}}
	for _, name := range pl.settings.ProviderNames() {
		one := pl.settings.Providers[name]
		source := ""
		if key, err := pl.settings.Key(one); err == nil {
			source = key.Source()
			if !key.Known() {
				source = ""
			}
		}
		defined := "providers.json"
		switch {
		case one.Broken:
			defined = "providers.json, unusable"
		case one.Builtin:
			defined = "built in"
		}
		names := one.ModelNames()
		if len(names) == 0 {
			names = []string{""}
		}
		for _, m := range names {
			r := modelRecord{Provider: name, Model: orNull(m), Protocol: one.Protocol, Default: m != "" && m == one.DefaultModel, Key: orNull(source), Defined: defined}
			key := source
			if key == "" && !one.RequiresKey {
				key = "not needed"
			}
			row := []string{name, m, one.Protocol, "", "", terminal.Yes(r.Default), key, defined}
			if m != "" {
				entry := one.Entry(m)
				r.ContextWindow, r.ImageInput = &entry.ContextWindow, &entry.ImageInput
				row[3], row[4] = strconv.Itoa(entry.ContextWindow), terminal.Yes(entry.ImageInput)
			}
			l.Rows = append(l.Rows, row)
			l.Records = append(l.Records, r)
		}
	}
	return l.Print(p.out(), f)
}
