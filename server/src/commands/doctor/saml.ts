import { X509Certificate } from 'node:crypto'
import { failure, fine, warning, type DoctorFinding } from './finding'
import type { Config } from '../../platform/config/config'

const soonMs = 30 * 86_400_000

/** Checks what sign-in by SAML needs: an address that the provider can name, and certificates that last. */
export function lookAtSaml(
  { saml, baseUrl }: Pick<Config, 'saml' | 'baseUrl'>,
  nowMs = Date.now(),
): DoctorFinding {
  if (!saml) return fine('saml', 'not set up')
  if (baseUrl === undefined) {
    const what = 'BASE_URL is not set, so the address for responses depends on the node'
    return failure('saml', what, 'Set BASE_URL to the address that the identity provider names.')
  }
  const ends = saml.certificates.map((pem) => Date.parse(new X509Certificate(pem).validTo))
  const lastEnd = Math.max(...ends)
  const when = new Date(lastEnd).toISOString().slice(0, 10)
  if (lastEnd > nowMs + soonMs) return fine('saml', `${saml.issuer}, certificates until ${when}`)
  const what = `the last certificate of SAML_CERTIFICATES ${lastEnd < nowMs ? 'ended' : 'ends'} on ${when}`
  return warning('saml', what, "Add the identity provider's next certificate before it changes.")
}
