import { z } from 'zod'
import { HeaderFields } from './header-fields'
import { customIssue } from '../../../wire/field-error'
import {
  findAuthorityFault,
  findCertificateFault,
  isCertificates,
  readPrivateKey,
} from '../../../providers/certificates'

/** The maximum length of certificates and of a key in PEM. */
const maxPemLength = 32_768

type FindFault = (text: string, now: Date) => string | undefined

/** Certificates in PEM without the fault that a further check looks for. */
const certificatesWithout = (findFault: FindFault) =>
  z
    .string()
    .max(maxPemLength)
    .superRefine((text, ctx) => {
      const fault = isCertificates(text)
        ? findFault(text, new Date())
        : 'must be certificates in PEM, each from BEGIN to END CERTIFICATE.'
      if (fault === undefined) return
      ctx.addIssue({ code: 'custom', params: { issue: 'bad_format' }, message: fault })
    })

const privateKey = z
  .string()
  .max(maxPemLength)
  .refine((text) => readPrivateKey(text) !== undefined, {
    params: { issue: 'bad_format' },
    message: 'must be a private key in PEM, without a passphrase.',
  })

/** The way to a connection's upstream, and its headers. A field that is absent stays as it is, null removes it. */
export const NetworkFields = z
  .strictObject({
    certificate_authorities: certificatesWithout(findAuthorityFault)
      .nullish()
      .describe("PEM; one of them signs the server's certificate, instead of the system's"),
    client_certificate: certificatesWithout(findCertificateFault)
      .nullish()
      .describe('PEM; with the certificates between it and its authority'),
    client_key: privateKey
      .nullish()
      .describe('PEM; the key of the client certificate, stored encrypted and never returned'),
    headers: HeaderFields.nullish().describe(
      'Headers of each request, by name; values are stored encrypted and never returned. A name that is absent stays, null removes it',
    ),
  })
  .meta({ ref: 'NetworkFields' })
export type NetworkFields = z.output<typeof NetworkFields>

const proxyUrl = z
  .url({ protocol: /^(?:https?|socks5)$/ })
  .max(500)
  .refine((url) => toOrigin(url) !== undefined, {
    params: { issue: 'not_allowed' },
    message: 'must be scheme, host and port alone, such as http://proxy.example:3128.',
  })
  .transform((url) => toOrigin(url) ?? url)

/** Hosts of URLs whose scheme the standard does not know are not checked by its parser. */
const hostPattern = /^(?:[a-z\d._-]+|\[[a-f\d:.]+\])(?::\d+)?$/i

/** Returns the URL of a proxy without a final slash; undefined where it has more than scheme, host and port. */
function toOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !hostPattern.test(url.host)) return undefined
  const origin = `${url.protocol}//${url.host}`
  return url.href.replace(/\/$/, '') === origin ? origin : undefined
}

const isSocks = (url: string) => url.startsWith('socks5:')
/** One byte holds the length of each. Source: RFC 1929. */
const maxSocksBytes = 255

const ProxyFields = z
  .strictObject({
    url: proxyUrl.describe(
      '`http:` or `https:` for an HTTP proxy, by the way to the proxy itself; `socks5:` for a SOCKS5 proxy',
    ),
    username: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^:]*$/, 'must have no colon.')
      .nullish(),
    password: z.string().max(1024).nullish().describe('Stored encrypted and never returned'),
    certificate_authorities: certificatesWithout(findAuthorityFault)
      .nullish()
      .describe('PEM; of the proxy itself'),
  })
  .superRefine((fields, ctx) => {
    if (fields.password && !fields.username) {
      ctx.addIssue(customIssue('required', 'required with a password.', ['username']))
    }
    if (isSocks(fields.url)) for (const issue of findSocksIssues(fields)) ctx.addIssue(issue)
  })
  .meta({ ref: 'ProxyFields' })
export type ProxyFields = z.output<typeof ProxyFields>

type SocksFields = Readonly<
  Partial<Record<'username' | 'password' | 'certificate_authorities', string | null | undefined>>
>

/** Finds what SOCKS5 cannot express. */
function findSocksIssues({ certificate_authorities: authorities, ...credential }: SocksFields) {
  const tooLong = (['username', 'password'] as const).filter(
    (name) => Buffer.byteLength(credential[name] ?? '') > maxSocksBytes,
  )
  return [
    ...tooLong.map((name) =>
      customIssue('too_long', `must have at most ${maxSocksBytes} bytes for SOCKS5.`, [name]),
    ),
    ...(authorities
      ? [customIssue('not_allowed', 'only for a proxy by https.', ['certificate_authorities'])]
      : []),
  ]
}

/** The way to the upstream of a platform connection. Only operators set proxies, which connect in Tollgate's place. */
export const PlatformNetworkFields = NetworkFields.extend({
  proxy: ProxyFields.nullish().describe('Connects to the server; replaced as a whole'),
}).meta({ ref: 'PlatformNetworkFields' })
export type PlatformNetworkFields = z.output<typeof PlatformNetworkFields>

const CertificateAnswer = z.object({
  subject: z.string().meta({ examples: ['CN=Tollgate'] }),
  expires_at: z.iso.datetime(),
  fingerprint: z.string().describe('SHA-256, in hexadecimal digits'),
})

/** The way to a connection's upstream, as it is shown: without keys and passwords. */
export const NetworkAnswer = z
  .object({
    certificate_authorities: z.array(CertificateAnswer),
    client_certificate: CertificateAnswer.nullable(),
    headers: z
      .array(z.string())
      .describe('The names of its headers')
      .meta({ examples: [['x-team']] }),
  })
  .meta({ ref: 'ConnectionNetwork' })
export type NetworkAnswer = z.output<typeof NetworkAnswer>

export const PlatformNetworkAnswer = NetworkAnswer.extend({
  proxy: z
    .object({
      url: z.string().meta({ examples: ['http://proxy.example:3128'] }),
      username: z.string().nullable(),
      certificate_authorities: z.array(CertificateAnswer),
    })
    .nullable(),
}).meta({ ref: 'PlatformConnectionNetwork' })
export type PlatformNetworkAnswer = z.output<typeof PlatformNetworkAnswer>
