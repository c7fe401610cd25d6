// Package dispatcher takes tool calls through the stages of dispatch.
package dispatcher
