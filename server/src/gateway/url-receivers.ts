import { isBuiltIn } from '../providers/registry'
import type { Candidate } from '../routing/candidate'
import { isPublicHost } from '../upstream/http/user-url'

type Receiver = Pick<Candidate, 'provider' | 'connection'>

/** By connection: found once, and released with it. */
const knownReceivers = new WeakMap<Receiver['connection'], boolean>()

/**
 * Returns whether a connection's server gets the addresses of images and files that callers who share its credential
 * name. Providers of the registry fetch them from the internet. Other servers, and those in private networks, would fetch
 * them from the operator's network: they get none unless the operator says so.
 */
export function receivesUrls({ provider, connection }: Receiver): boolean {
  let receives = knownReceivers.get(connection)
  if (receives === undefined)
    knownReceivers.set(connection, (receives = decide({ provider, connection })))
  return receives
}

function decide({ provider, connection }: Receiver): boolean {
  const { options, baseUrl, owner } = connection
  // Customers' servers are in networks of their own.
  if (owner !== null) return true
  if (options.remote_urls) return options.remote_urls === 'passed'
  if (provider.baseUrl === null || !isBuiltIn(provider.key)) return false
  if (baseUrl === null) return true
  const url = URL.parse(baseUrl)
  return url !== null && isPublicHost(url.hostname)
}
