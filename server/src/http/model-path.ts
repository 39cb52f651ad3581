/**
 * Returns the model id in a path between `prefix` and `suffix`, decoded once: clients send its slashes raw or as
 * %2F. Undefined where it cannot be decoded. Source: contract 1.4.
 */
export function parseModelId(url: string, prefix: string, suffix = ''): string | undefined {
  const path = url.slice(url.indexOf('/', url.indexOf('//') + 2)).replace(/[?#].*$/s, '')
  const end = path.replace(/\/$/, '').length - suffix.length
  try {
    return decodeURIComponent(path.slice(prefix.length, end))
  } catch {
    return undefined
  }
}
