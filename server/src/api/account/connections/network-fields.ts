import { z } from 'zod'
import {
  findAuthorityFault,
  findCertificateFault,
  isCertificates,
  readPrivateKey,
} from '../../../providers/certificates'

/** What certificates and keys in PEM take at most. */
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

/** The way to a connection's upstream. A field that is absent stays as it is, null removes it. */
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
  })
  .meta({ ref: 'NetworkFields' })
export type NetworkFields = z.output<typeof NetworkFields>

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
  })
  .meta({ ref: 'ConnectionNetwork' })
export type NetworkAnswer = z.output<typeof NetworkAnswer>
