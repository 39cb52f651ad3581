import type { Selectable } from 'kysely'
import { changeHeaders } from './header-fields'
import type { NetworkAnswer, PlatformNetworkAnswer, PlatformNetworkFields } from './network-fields'
import { invalidRequest } from '../../../errors'
import type { ConnectionRow } from '../../../platform/db/schema'
import { networkSecret, seal, unseal, type SealingKeys } from '../../../platform/db/sealed'
import { isKeyOf, summarizeCertificates } from '../../../providers/certificates'
import type { ConnectionHeaders } from '../../../providers/connection-headers'
import { ConnectionNetwork, NetworkSecrets } from '../../../providers/connection-network'

type NetworkRow = Pick<Selectable<ConnectionRow>, 'id' | 'network' | 'network_secret'>

/** The row of a connection that has no way of its own yet. */
export const withoutNetwork = (id: string): NetworkRow => ({
  id,
  network: {},
  network_secret: null,
})

/** Fields, or a change of them: null removes one, undefined keeps it. */
type Change = Readonly<Record<string, unknown>>

/** Returns the fields that a change leaves. */
function applyChange(before: Change, change: Change): Change {
  const changed = Object.entries(change).filter(([, value]) => value !== undefined)
  const fields = Object.entries({ ...before, ...Object.fromEntries(changed) })
  return Object.fromEntries(fields.filter(([, value]) => value !== null))
}

/** Removes all that a connection may have. */
const noNetwork = {
  certificate_authorities: null,
  client_certificate: null,
  proxy: null,
  headers: null,
} as const satisfies PlatformNetworkFields

/** Splits fields into those that are stored as they are and secrets, which go with what they belong to. */
function splitFields(fields: PlatformNetworkFields): { network: Change; secrets: Change } {
  const { certificate_authorities, client_certificate, client_key: key, proxy } = fields
  const { password, ...publicProxy } = proxy ?? {}
  return {
    network: {
      certificate_authorities,
      client_certificate,
      proxy: proxy && applyChange({}, publicProxy),
    },
    secrets: {
      client_key: client_certificate === null ? (key ?? null) : key,
      proxy_password: proxy === undefined ? undefined : (password ?? null),
    },
  }
}

interface NetworkChange {
  /** Null removes all, undefined changes nothing. */
  fields: PlatformNetworkFields | null | undefined
  /** Whether the connection gets another address. */
  isMoved?: boolean
}

/**
 * Converts a change of the way to a connection's upstream to columns. Headers belong to the address that they were
 * given for, as secrets do. Throws `invalid_request` where a client certificate and its key do not belong together.
 */
export function toNetworkColumns(
  row: NetworkRow,
  { fields, isMoved = false }: NetworkChange,
  keys: SealingKeys,
) {
  if (fields === undefined && !(isMoved && readNetwork(row).headers)) return {}
  const change = splitFields(fields === null ? noNetwork : (fields ?? {}))
  const before = readSecrets(row, keys)
  const headers = toHeaders(isMoved ? {} : (before.headers ?? {}), fields)
  const network = ConnectionNetwork.parse(
    applyChange(readNetwork(row), { ...change.network, headers: headers && Object.keys(headers) }),
  )
  const secrets = NetworkSecrets.parse(applyChange(before, { ...change.secrets, headers }))
  checkClientKey(network, secrets)
  const hasSecrets = Object.keys(secrets).length > 0
  return {
    network: JSON.stringify(network),
    network_secret: hasSecrets ? seal(JSON.stringify(secrets), keys, networkSecret(row.id)) : null,
    network_secret_key_id: hasSecrets ? keys[0].id : null,
  }
}

/** Returns the headers that a change of the network leaves; null where there are none. */
function toHeaders(
  before: ConnectionHeaders,
  fields: PlatformNetworkFields | null | undefined,
): Record<string, string> | null {
  if (fields === null || fields?.headers === null) return null
  const headers = changeHeaders(before, fields?.headers ?? {})
  return Object.keys(headers).length > 0 ? headers : null
}

const readNetwork = ({ network }: NetworkRow) => ConnectionNetwork.parse(network)

function readSecrets({ id, network_secret: sealed }: NetworkRow, keys: SealingKeys) {
  if (!sealed) return {}
  return NetworkSecrets.parse(JSON.parse(unseal(sealed, keys, networkSecret(id))))
}

function checkClientKey(
  { client_certificate: certificate }: ConnectionNetwork,
  { client_key: key }: NetworkSecrets,
): void {
  if (certificate === undefined && key === undefined) return
  if (certificate === undefined) {
    const message = 'network.client_certificate: required with a key.'
    throw invalidRequest('network.client_certificate', 'required', message)
  }
  if (key === undefined) {
    const message = 'network.client_key: required with a client certificate.'
    throw invalidRequest('network.client_key', 'required', message)
  }
  if (isKeyOf(key, certificate)) return
  const message = 'network.client_key: is not the key of the client certificate.'
  throw invalidRequest('network.client_key', 'conflict', message)
}

/** Reads what of the way to an upstream is shown; null where there is nothing. */
function findShown(stored: unknown): ConnectionNetwork | null {
  const { success, data } = ConnectionNetwork.safeParse(stored)
  return success && Object.keys(data).length > 0 ? data : null
}

/** Shows the certificates and the names of the headers of a connection, for those who may change it. */
export function toNetworkAnswer(stored: unknown): NetworkAnswer | null {
  const network = findShown(stored)
  if (!network) return null
  const [clientCertificate = null] = summarizeCertificates(network.client_certificate ?? '')
  return {
    certificate_authorities: summarizeCertificates(network.certificate_authorities ?? ''),
    client_certificate: clientCertificate,
    headers: network.headers ?? [],
  }
}

/** Shows the same of a platform connection, and its proxy. */
export function toPlatformNetworkAnswer(stored: unknown): PlatformNetworkAnswer | null {
  const certificates = toNetworkAnswer(stored)
  if (!certificates) return null
  const proxy = findShown(stored)?.proxy
  const proxyAnswer = proxy && {
    url: proxy.url,
    username: proxy.username ?? null,
    certificate_authorities: summarizeCertificates(proxy.certificate_authorities ?? ''),
  }
  return { ...certificates, proxy: proxyAnswer ?? null }
}
