import type { Selectable } from 'kysely'
import type { NetworkAnswer, NetworkFields } from './network-fields'
import { invalidRequest } from '../../../errors'
import type { ConnectionRow } from '../../../platform/db/schema'
import { networkSecret, seal, unseal, type SealingKeys } from '../../../platform/db/sealed'
import { isKeyOf, summarizeCertificates } from '../../../providers/certificates'
import { ConnectionNetwork, NetworkSecrets } from '../../../providers/connection-network'

type NetworkRow = Pick<Selectable<ConnectionRow>, 'id' | 'network' | 'network_secret'>

/** The row of a connection that has no way of its own yet. */
export const withoutNetwork = (id: string): NetworkRow => ({
  id,
  network: {},
  network_secret: null,
})

/** Returns the fields that a change leaves: null removes one, undefined keeps it. */
function applyChange<Stored extends object>(
  before: Stored,
  change: { readonly [Name in keyof Stored]?: Stored[Name] | null | undefined },
): Partial<Stored> {
  const changed = Object.entries(change).filter(([, value]) => value !== undefined)
  const fields = Object.entries({ ...before, ...Object.fromEntries(changed) })
  return Object.fromEntries(fields.filter(([, value]) => value !== null)) as Partial<Stored>
}

/**
 * Converts a change of the way to a connection's upstream to columns; null removes all of it. Throws
 * `invalid_request` where a client certificate and its key do not belong together.
 */
export function toNetworkColumns(
  row: NetworkRow,
  fields: NetworkFields | null | undefined,
  keys: SealingKeys,
) {
  if (fields === undefined) return {}
  const { client_key: key, ...publicFields } = fields ?? {}
  const isRemoved = fields === null || publicFields.client_certificate === null
  const network = fields === null ? {} : applyChange(readNetwork(row), publicFields)
  const secrets = isRemoved ? {} : applyChange(readSecrets(row, keys), { client_key: key })
  checkClientKey(network, secrets, key ?? undefined)
  const hasSecrets = Object.keys(secrets).length > 0
  return {
    network: JSON.stringify(network),
    network_secret: hasSecrets ? seal(JSON.stringify(secrets), keys, networkSecret(row.id)) : null,
    network_secret_key_id: hasSecrets ? keys[0].id : null,
  }
}

const readNetwork = ({ network }: NetworkRow) => ConnectionNetwork.parse(network)

function readSecrets({ id, network_secret: sealed }: NetworkRow, keys: SealingKeys) {
  if (!sealed) return {}
  return NetworkSecrets.parse(JSON.parse(unseal(sealed, keys, networkSecret(id))))
}

function checkClientKey(
  { client_certificate: certificate }: ConnectionNetwork,
  { client_key: key }: NetworkSecrets,
  sentKey: string | undefined,
): void {
  if (certificate === undefined && (key ?? sentKey) === undefined) return
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

/** Shows the way to a connection's upstream, for those who may change it; null where there is nothing to show. */
export function toNetworkAnswer(stored: unknown): NetworkAnswer | null {
  const { success, data } = ConnectionNetwork.safeParse(stored)
  if (!success || Object.keys(data).length === 0) return null
  const [clientCertificate = null] = summarizeCertificates(data.client_certificate ?? '')
  return {
    certificate_authorities: summarizeCertificates(data.certificate_authorities ?? ''),
    client_certificate: clientCertificate,
  }
}
