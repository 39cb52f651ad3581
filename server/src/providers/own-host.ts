/** Signed addresses have up to some 2,000 characters. */
const maxUrlLength = 8192

/** The addresses of a connection: its own, and that of its provider. */
interface KnownAddresses {
  address: string
  ownAddress: string | null
}

/** Returns the last two labels of a host's name: `bfl.ai` of `api.eu.bfl.ai`. */
const domainOf = (hostname: string) => hostname.split('.').slice(-2).join('.')

const isBelow = (hostname: string, domain: string) =>
  hostname === domain || hostname.endsWith(`.${domain}`)

/**
 * Returns whether an address in an answer leads where the credential of its connection may go: to the same origin, or over
 * https to another host of the provider's domain, where the connection leads to one of these too.
 */
export function isOwnHost(text: string, { address, ownAddress }: KnownAddresses): boolean {
  const url = text.length > maxUrlLength ? null : URL.parse(text)
  const base = URL.parse(address)
  if (!url || !base || url.username !== '' || url.password !== '') return false
  if (url.origin === base.origin) return true
  const home = ownAddress === null ? null : URL.parse(ownAddress)
  if (!home || url.protocol !== 'https:' || url.port !== '') return false
  const domain = domainOf(home.hostname)
  return (
    base.protocol === 'https:' && isBelow(base.hostname, domain) && isBelow(url.hostname, domain)
  )
}
