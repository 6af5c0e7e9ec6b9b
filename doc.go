// Package duplex is the tour: where each thing is, and how a change finds its place. It holds no code of
// the product.
package duplex
