package ingest

// NewSettings builds what the formats need to know of the user's wishes. An
// error is a mistake in the rules.
func NewSettings(c FieldConfig, r RuleConfig) (*Settings, error) {
	rules, err := newRuleSet(r)
	if err != nil {
		return nil, err
	}
	return &Settings{FieldConfig: c, Rules: rules, Lines: newLineTable(c, rules), Tags: newTagTable(c, rules)}, nil
}
