// Package lint finds what `packer validate` doesn't look at in a template that
// makes golden images of Windows: a guest id that vCenter doesn't know, an
// answer file that Windows Setup passes over, a key or password that everybody
// has, a step of the checklist that is missing.
//
// It reads anybody's folder of .pkr.hcl and .pkr.json files, evaluates what can
// be evaluated without Packer, and says UNKNOWN where a value is only given at
// build time or a step's content can't be read. It runs nothing and changes
// nothing; whether Packer takes the template is for packer validate.
package lint
