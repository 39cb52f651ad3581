/** `https://` at least is before the path. */
const shortestOrigin = 8

/** The path of an absolute URL, as it was sent; it may have a query, never a fragment. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', shortestOrigin)
  const end = url.indexOf('?', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}
