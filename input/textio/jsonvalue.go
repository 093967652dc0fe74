package textio

import (
	"encoding/json"
)

// maxText bounds a string that is taken, in bytes; those that are passed over
// may be longer.
const maxText = 1 << 20

// Null takes the value that comes next if it is null, and reports whether it
// was.
func (j *JSON) Null() (bool, error) {
	c, err := j.inner()
	if err != nil || c != 'n' {
		return false, err
	}
	_, err = j.literal()
	return err == nil, err
}

// Number is the text of the number that comes next, valid until the next value;
// empty for null. It may be NaN, Infinity or -Infinity.
func (j *JSON) Number(field string) ([]byte, error) {
	c, err := j.inner()
	if err != nil {
		return nil, err
	}
	switch c {
	case '{', '[', '"':
		return nil, j.Bad(field, j.kind(c), "a number")
	}
	text, err := j.literal()
	if err != nil {
		return nil, err
	}
	switch string(text) {
	case "null":
		return nil, nil
	case "true", "false":
		return nil, j.Bad(field, string(text), "a number")
	}
	return text, nil
}

// Text is the string that comes next, and false for null.
func (j *JSON) Text(field string) (string, bool, error) {
	c, err := j.inner()
	if err != nil {
		return "", false, err
	}
	if c != '"' {
		if null, err := j.Null(); null || err != nil {
			return "", false, err
		}
		return "", false, j.Bad(field, j.kind(c), "a string")
	}
	text, err := j.quoted()
	return string(text), err == nil, err
}

// Truth is the true or false that comes next; null is false.
func (j *JSON) Truth(field string) (bool, error) {
	c, err := j.inner()
	if err != nil {
		return false, err
	}
	if c == 't' || c == 'f' || c == 'n' {
		text, err := j.literal()
		return string(text) == "true", err
	}
	return false, j.Bad(field, j.kind(c), "true or false")
}

// plainByte reports whether a byte may be in a number or literal.
func plainByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '+' || c == '-' || c == '.'
}

// literal reads a number, true, false or null.
func (j *JSON) literal() ([]byte, error) {
	j.text = j.text[:0]
	for {
		c, err := j.r.ReadByte()
		if err != nil {
			if len(j.text) > 0 && j.depth == 0 {
				break // the end of the text
			}
			return nil, j.broken(err)
		}
		if !plainByte(c) {
			j.r.UnreadByte()
			break
		}
		const longest = 400 // bytes: a float may have 308 digits
		if len(j.text) == longest {
			return nil, j.wrong("%s: want a value", Quote(string(j.text)))
		}
		j.text = append(j.text, c)
	}
	switch string(j.text) {
	case "null", "true", "false", "NaN", "Infinity", "-Infinity":
		return j.text, nil
	}
	if len(j.text) == 0 {
		c, _ := j.r.Peek(1)
		return nil, j.wrong("%s: want a value", Quote(string(c)))
	}
	if first := j.text[0]; first != '-' && (first < '0' || first > '9') || !json.Valid(j.text) {
		return nil, j.wrong("%s: want a value", Quote(string(j.text)))
	}
	return j.text, nil
}

// quoted reads a string and undoes its escapes.
func (j *JSON) quoted() ([]byte, error) {
	j.r.Discard(1)
	j.text = append(j.text[:0], '"')
	plain := true
	for {
		c, err := j.r.ReadByte()
		if err != nil {
			return nil, j.broken(err)
		}
		if len(j.text) > maxText {
			return nil, j.wrong("a string of more than %d bytes: want shorter keys and names", maxText)
		}
		if c < ' ' {
			return nil, j.wrong("%q within a string: want it escaped", c)
		}
		if c == '"' {
			break
		}
		j.text = append(j.text, c)
		if c >= 0x80 {
			plain = false
		}
		if c == '\\' {
			plain = false
			if c, err = j.r.ReadByte(); err != nil {
				return nil, j.broken(err)
			}
			j.text = append(j.text, c)
		}
	}
	if plain {
		return j.text[1:], nil
	}
	j.text = append(j.text, '"')
	var text string
	if err := json.Unmarshal(j.text, &text); err != nil {
		return nil, j.wrong("%s: want a string", Quote(string(j.text)))
	}
	j.text = append(j.text[:0], text...)
	return j.text, nil
}

// pass reads over a string of any length. Of escapes it sees only where they
// end.
func (j *JSON) pass() error {
	j.r.Discard(1)
	for {
		c, err := j.r.ReadByte()
		if err != nil {
			return j.broken(err)
		}
		switch {
		case c == '"':
			return nil
		case c < ' ':
			return j.wrong("%q within a string: want it escaped", c)
		case c == '\\':
			if c, err = j.r.ReadByte(); err != nil {
				return j.broken(err)
			}
			if c < ' ' {
				return j.wrong("%q within a string: want it escaped", c)
			}
		}
	}
}

// Blank passes over the value that comes next and reports whether it was null or
// an empty string.
func (j *JSON) Blank() (bool, error) {
	c, err := j.inner()
	if err != nil {
		return false, err
	}
	start, _ := j.r.Peek(2)
	return c == 'n' || string(start) == `""`, j.Skip()
}
