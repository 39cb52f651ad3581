/** `https://` at least is before the path. */
const shortestOrigin = 8

/** The path of an absolute URL as it was sent, without query and fragment: people put secrets there. */
export function getPath(url: string): string {
  const start = url.indexOf('/', shortestOrigin)
  for (let at = start; at < url.length; at++) {
    if (url[at] === '?' || url[at] === '#') return url.slice(start, at)
  }
  return url.slice(start)
}
