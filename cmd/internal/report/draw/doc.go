// Package draw makes charts out of plain marks, for pages that load nothing.
//
// A Drawing is a list of marks: paths, boxes, dots and texts, with coordinates
// in the drawing's own units. It holds no markup. A template writes it as SVG,
// so that a label is escaped where it stands, and a drawing can be compared in a
// test. Colours are the business of a style sheet: a mark has a class alone.
//
// Beside the marks there is what a chart needs so that it reads well: scales,
// ticks at round values, labels that keep their distance, text cut to fit.
//
// It draws what it is told: no layout, no legend, no animation. Whoever calls
// decides how many points are worth drawing.
package draw
