package console

import (
	"errors"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/winbake/winbake/internal/fault"
)

// Fail takes the live lines off the terminal and prints the error that ends
// the command; each one of errors that were joined. nil prints nothing.
func (c *Console) Fail(err error) {
	c.Close()
	for _, e := range parts(err) {
		if c.json {
			failJSON(c.log, e, fault.ExitCode(err))
		} else {
			c.log.Error(e.Error())
		}
	}
}

// failJSON gives the command's exit code, and a fault's parts, fields of their own.
func failJSON(log *logrus.Logger, err error, code int) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		f = &fault.Error{}
	}
	fields := logrus.Fields{"exitCode": code}
	for name, text := range map[string]string{"where": f.Where, "excerpt": f.Excerpt, "fix": f.Fix} {
		if text != "" {
			fields[name] = text
		}
	}
	message := f.What
	if err != error(f) { //nolint:errorlint // somebody wrapped it, and has something to add
		message = err.Error()
	}
	log.WithFields(fields).Error(message)
}

// parts undoes errors.Join, and nothing else: an error made by fmt.Errorf with
// several %w has a text of its own.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	var texts []string
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
		texts = append(texts, e.Error())
	}
	if strings.Join(texts, "\n") != err.Error() {
		return []error{err}
	}
	return all
}
