import { createHash, createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'

const certificatePattern = /-----BEGIN CERTIFICATE-----[\w+/=\s]+-----END CERTIFICATE-----/g

/** Reads certificates in PEM, one after the other; undefined where the text is anything else. */
export function readCertificates(text: string): X509Certificate[] | undefined {
  const certificates = text.match(certificatePattern) ?? []
  if (certificates.length === 0 || text.replace(certificatePattern, '').trim() !== '') {
    return undefined
  }
  try {
    return certificates.map((one) => new X509Certificate(one))
  } catch {
    return undefined
  }
}

/** Whether a text is certificates in PEM, one after the other, and nothing else. */
export const isCertificates = (text: string): boolean => readCertificates(text) !== undefined

const endOf = (certificate: X509Certificate) => new Date(certificate.validTo)

/** Returns why authorities cannot vouch for a server: all of them have expired. */
export function findAuthorityFault(text: string, now: Date): string | undefined {
  const ends = (readCertificates(text) ?? []).map(endOf).toSorted((a, b) => +b - +a)
  const [last] = ends
  if (!last || last > now) return undefined
  return `expired on ${last.toISOString()}.`
}

/** Returns why a client certificate, the first of its chain, cannot be used at this time. */
export function findCertificateFault(text: string, now: Date): string | undefined {
  const [certificate] = readCertificates(text) ?? []
  if (!certificate) return undefined
  const begin = new Date(certificate.validFrom)
  if (begin > now) return `is not valid before ${begin.toISOString()}.`
  const end = endOf(certificate)
  return end > now ? undefined : `expired on ${end.toISOString()}.`
}

/** Reads a private key in PEM; undefined where the text is none, or needs a passphrase. */
export function readPrivateKey(text: string): KeyObject | undefined {
  if (!/^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) return undefined
  try {
    return createPrivateKey(text)
  } catch {
    return undefined
  }
}

/** Whether a private key is that of a client certificate, the first of its chain. */
export function isKeyOf(key: string, certificate: string): boolean {
  const privateKey = readPrivateKey(key)
  const [first] = readCertificates(certificate) ?? []
  return privateKey !== undefined && first?.checkPrivateKey(privateKey) === true
}

/** A certificate as it is shown. */
export interface CertificateSummary {
  subject: string
  expires_at: string
  /** SHA-256, in hexadecimal digits. */
  fingerprint: string
}

/** Summarizes the certificates of a text. */
export const summarizeCertificates = (text: string): CertificateSummary[] =>
  (readCertificates(text) ?? []).map((certificate) => ({
    subject: certificate.subject.split('\n').join(', '),
    expires_at: endOf(certificate).toISOString(),
    fingerprint: createHash('sha256').update(certificate.raw).digest('hex'),
  }))
