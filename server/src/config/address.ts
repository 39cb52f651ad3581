/** The host by which this machine reaches a server bound to `host`; an IPv6 address is without brackets. */
export const hostHere = (host: string): string =>
  ['', '0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host

/** A host and a port as URLs have them: IPv6 addresses stand in brackets. */
export const hostAndPort = (host: string, port: number | string): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** The URL that people open for a server bound to `host`, on its own machine; without a final slash. */
export function getLocalUrl(host: string, port: number): string {
  const isEverywhere = ['127.0.0.1', '0.0.0.0', '::'].includes(host)
  return `http://${hostAndPort(isEverywhere ? 'localhost' : host, port)}`
}
