/** One line of a plot. */
export interface Point {
  label: string
  value: number
}

interface Plot {
  title: string
  unit: string
  points: readonly Point[]
}

const width = 820
const left = 350
const right = 90
const top = 56
const rowHeight = 30
const plotWidth = width - left - right

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const formatValue = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1)

/** Colours for light and dark pages, by the reader's preference. */
const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2933 }
  .title { font-size: 15px; font-weight: 600 }
  .axis { font-size: 11px; fill: #667585 }
  .grid { stroke: #c9d1d9; stroke-width: 1 }
  .row { stroke: #93a1b0; stroke-width: 2 }
  .dot { fill: #5b7083 }
  .own { fill: #0b6bcb }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .axis { fill: #9aa7b4 } .grid { stroke: #3a444e }
    .row { stroke: #5d6b78 } .dot { fill: #a9b7c4 } .own { fill: #58a6ff }
  }`

/**
 * Draws an SVG with one value a line on a logarithmic scale, as peers differ by orders of magnitude.
 * Highlights lines whose label begins with "Tollgate".
 */
export function plotOf({ title, unit, points }: Plot): string {
  const values = points.map(({ value }) => value)
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  const xOf = (value: number) => left + (plotWidth * (Math.log10(value) - low)) / (high - low)
  const height = top + rowHeight * points.length + 34
  const bottom = height - 30
  const grid = Array.from({ length: high - low + 1 }, (_, index) => {
    const x = xOf(10 ** (low + index))
    const label = (10 ** (low + index)).toLocaleString('en-US')
    return (
      `<line class="grid" x1="${x}" y1="${top - 12}" x2="${x}" y2="${bottom}"/>` +
      `<text class="axis" x="${x}" y="${bottom + 16}" text-anchor="middle">${label}</text>`
    )
  })
  const rows = points.map(({ label, value }, index) => {
    const y = top + rowHeight * index + rowHeight / 2
    const x = xOf(value).toFixed(1)
    const own = label.startsWith('Tollgate') ? 'own' : 'dot'
    return (
      `<text x="${left - 12}" y="${y + 4}" text-anchor="end">${escaped(label)}</text>` +
      `<line class="row" x1="${left}" y1="${y}" x2="${x}" y2="${y}"/>` +
      `<circle class="${own}" cx="${x}" cy="${y}" r="6"/>` +
      `<text x="${Number(x) + 12}" y="${y + 4}">${formatValue(value)}</text>`
    )
  })
  const described = `${title}, ${unit}, logarithmic`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(described)}">`,
    `<style>${style}</style>`,
    `<text class="title" x="12" y="24">${escaped(described)}</text>`,
    ...grid,
    ...rows,
    '</svg>',
    '',
  ].join('\n')
}
