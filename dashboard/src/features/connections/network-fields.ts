import type { Schemas } from '../../api/client'

/** The network of a connection as the API shows it; only a platform connection has a proxy. */
export type Network = Schemas['ConnectionNetwork'] &
  Partial<Pick<Schemas['PlatformConnectionNetwork'], 'proxy'>>

type NetworkChange = Schemas['PlatformNetworkFields']

/** A header as it is edited; the value of one that is stored stays while its field is empty. */
interface HeaderRow {
  /** Unique among the rows. */
  id: string
  name: string
  value: string
  isStored: boolean
}

/** The network in a form: empty texts keep what is stored. */
export interface NetworkFields {
  certificate_authorities: string
  client_certificate: string
  client_key: string
  removesAuthorities: boolean
  removesCertificate: boolean
  headers: HeaderRow[]
  proxy: { url: string; username: string; password: string; certificate_authorities: string }
}

export const toNetworkFields = (shown: Network | null | undefined): NetworkFields => ({
  certificate_authorities: '',
  client_certificate: '',
  client_key: '',
  removesAuthorities: false,
  removesCertificate: false,
  headers: (shown?.headers ?? []).map((name) => ({
    id: name,
    name,
    value: '',
    isStored: true,
  })),
  proxy: {
    url: shown?.proxy?.url ?? '',
    username: shown?.proxy?.username ?? '',
    password: '',
    certificate_authorities: '',
  },
})

/** Returns an empty row behind others. */
export function newHeader(rows: readonly HeaderRow[]): HeaderRow {
  const numbers = rows.map(({ id }) => Number(id) || 0)
  return { id: String(Math.max(0, ...numbers) + 1), name: '', value: '', isStored: false }
}

/** Returns the changes of a network for a request; undefined where there are none. */
export function toNetworkChange(
  fields: NetworkFields,
  shown: Network | null | undefined,
): NetworkChange | undefined {
  const change = {
    ...textChange('certificate_authorities', fields, fields.removesAuthorities),
    ...textChange('client_certificate', fields, fields.removesCertificate),
    ...textChange('client_key', fields, fields.removesCertificate),
    ...headerChange(fields, shown),
    ...proxyChange(fields, shown),
  }
  return Object.keys(change).length > 0 ? change : undefined
}

type Text = 'certificate_authorities' | 'client_certificate' | 'client_key'

function textChange(name: Text, fields: NetworkFields, isRemoved: boolean): NetworkChange {
  if (isRemoved) return { [name]: null }
  return fields[name] === '' ? {} : { [name]: fields[name] }
}

function headerChange(
  { headers: rows }: NetworkFields,
  shown: Network | null | undefined,
): NetworkChange {
  const kept = new Set(rows.filter(({ isStored }) => isStored).map(({ name }) => name))
  const removed = (shown?.headers ?? []).filter((name) => !kept.has(name))
  const given = rows.filter(
    ({ isStored, name, value }) => value !== '' || (!isStored && name !== ''),
  )
  if (removed.length === 0 && given.length === 0) return {}
  return {
    headers: Object.fromEntries([
      ...removed.map((name) => [name, null] as const),
      ...given.map(({ name, value }) => [name, value] as const),
    ]),
  }
}

/** The API replaces a proxy as a whole. */
function proxyChange({ proxy }: NetworkFields, shown: Network | null | undefined): NetworkChange {
  const before = toNetworkFields(shown).proxy
  if (JSON.stringify(proxy) === JSON.stringify(before)) return {}
  if (proxy.url === '') return before.url === '' ? {} : { proxy: null }
  const given = Object.entries(proxy).filter(([, value]) => value !== '')
  return { proxy: { url: proxy.url, ...Object.fromEntries(given) } }
}

interface Form {
  values: { network: NetworkFields }
  setFieldError: (path: string, message: string) => void
}

/** Receives the errors of a form with a network: those of headers, which the API names, appear at their rows. */
export function networkErrors({ values, setFieldError }: Form) {
  const { network } = values
  const names = network.headers.map(({ name }) => name)
  return {
    values: {
      ...values,
      network: { ...network, headers: Object.fromEntries(names.map((name) => [name, ''])) },
    },
    setFieldError(path: string, message: string) {
      const [, name] = /^network\.headers\.(.*)$/.exec(path) ?? []
      const field = name === undefined ? path : `network.headers.${names.indexOf(name)}.name`
      setFieldError(field, message)
    },
  }
}
