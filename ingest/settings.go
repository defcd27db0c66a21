package ingest

import (
	"slices"
	"sync"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/hoplog"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/ingest/preset"
	"github.com/tailscope/tailscope/ingest/trace"
)

// NewSettings builds what the formats need to know of the user's wishes. An
// error is a mistake in the rules.
func NewSettings(c field.Config, r outcome.Config) (*format.Settings, error) {
	rules, err := outcome.NewSet(r)
	if err != nil {
		return nil, err
	}
	s := &format.Settings{Config: c, Rules: rules, Lines: hoplog.NewTable(c, rules), Tags: trace.NewTable(c, rules)}
	made := presetSettings{own: s, rules: r, made: map[string]*format.Settings{}}
	s.ByPreset = made.settings
	return s, nil
}

// presetSettings makes settings by presets, once one is asked for.
type presetSettings struct {
	own   *format.Settings
	rules outcome.Config
	mu    sync.Mutex
	made  map[string]*format.Settings
}

func (p *presetSettings) settings(name string) *format.Settings {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, done := p.made[name]
	if !done {
		s = p.make(preset.Find(name))
		p.made[name] = s
	}
	return s
}

func (p *presetSettings) make(one *preset.Preset) *format.Settings {
	if one == nil {
		return nil
	}
	c, err := one.Config(p.own.Config)
	if err != nil {
		return nil
	}
	s := *p.own
	s.Config, s.Preset = c, one.Name
	if one.Messages && !slices.Contains(p.rules.Not, outcome.RuleMessage) {
		r := p.rules
		r.MatchMessages = true
		if s.Rules, err = outcome.NewSet(r); err != nil {
			return nil
		}
	}
	s.Lines = hoplog.NewTable(c, s.Rules)
	return &s
}

// choice is by which settings a file may be read.
type choice struct {
	own, preset *format.Settings
	forced      bool // the user named the preset
}

// NoPreset is what --preset takes to read all files without one.
const NoPreset = "none"

// settings are those for a file that starts with head.
func (c *Config) settings(head []byte) choice {
	own := choice{own: c.Fields}
	switch c.Preset {
	case NoPreset:
	case "":
		if one := preset.Recognise(head); one != nil {
			own.preset = c.Fields.ByPreset(one.Name)
		}
	default:
		own.preset, own.forced = c.Fields.ByPreset(c.Preset), true
	}
	return own
}

// sniff looks for a format by the preset where that fits.
func (c choice) sniff(f *format.Format, head *format.Head) (format.Sniffed, *format.Settings) {
	if c.preset != nil && slices.Contains(hoplog.Formats, f) {
		if s := f.Sniff(head, c.preset); c.forced || s.Mine && s.Unitless == nil {
			return s, c.preset
		}
	}
	return f.Sniff(head, c.own), c.own
}

// mine reports whether a file that starts with head shows that it is of the format.
func (c choice) mine(f *format.Format, head []byte) bool {
	s, _ := c.sniff(f, &format.Head{Bytes: head})
	return s.Mine
}

// PresetNames lists what --preset takes.
func PresetNames() []string { return append(preset.Names(), NoPreset) }
