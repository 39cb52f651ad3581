/** The length of the shortest scheme, before which no path begins. */
const minOriginLength = 8

/** Returns the path of an absolute URL as it was sent, without query and fragment, which may contain secrets. */
export function getPath(url: string): string {
  const start = url.indexOf('/', minOriginLength)
  for (let at = start; at < url.length; at++) {
    if (url[at] === '?' || url[at] === '#') return url.slice(start, at)
  }
  return url.slice(start)
}
