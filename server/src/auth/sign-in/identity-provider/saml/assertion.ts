import { z } from 'zod'
import { domainOf, SignInRefusal, type ProvenIdentity } from '../identity'
import { ProviderRejected } from '../requests'
import { toClaimedRole } from '../role-claim'
import type { SamlConfig } from '../../../../platform/config/saml'

/** The clocks of two companies may differ by so much. */
export const skewMs = 60_000
const maxSubject = 255
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
const formats = 'urn:oasis:names:tc:SAML:'
const transientFormat = `${formats}2.0:nameid-format:transient`
const emailFormat = `${formats}1.1:nameid-format:emailAddress`

const Text = z.object({ _: z.string() })
const Confirmation = z.object({
  $: z.object({ Method: z.string() }),
  SubjectConfirmationData: z.tuple([
    z.object({
      $: z.object({
        Recipient: z.string(),
        InResponseTo: z.string(),
        NotOnOrAfter: z.string(),
        NotBefore: z.string().optional(),
      }),
    }),
  ]),
})
const Attribute = z.object({
  $: z.object({ Name: z.string() }),
  AttributeValue: z.array(z.unknown()).optional(),
})

/**
 * The assertion as the library has parsed it from the bytes that are signed. Source:
 * https://docs.oasis-open.org/security/saml/v2.0/saml-profiles-2.0-os.pdf (4.1.4.2)
 */
const SignedAssertion = z.object({
  Assertion: z.object({
    $: z.object({ ID: z.string().min(1), Version: z.literal('2.0') }),
    Issuer: z.tuple([Text]),
    Subject: z.tuple([
      z.object({
        NameID: z.tuple([
          z.object({ _: z.string(), $: z.object({ Format: z.string().optional() }).optional() }),
        ]),
        SubjectConfirmation: z.array(z.unknown()).min(1),
      }),
    ]),
    Conditions: z.tuple([z.unknown()]),
    AuthnStatement: z.array(z.unknown()).min(1),
    AttributeStatement: z
      .array(z.union([z.object({ Attribute: z.array(Attribute).optional() }), z.string()]))
      .optional(),
  }),
})
type Assertion = z.output<typeof SignedAssertion>['Assertion']

/** The sign-in that an assertion has to be about. */
interface ExpectedSignIn {
  requestId: string
  /** The address that receives assertions. */
  recipient: string
  nowMs: number
}

/** An assertion whose signature, audience and times the library has verified, and the rest is verified here. */
export interface VerifiedAssertion {
  id: string
  identity: ProvenIdentity
}

/** Verifies the rest of an assertion. Throws `ProviderRejected`, and `SignInRefusal` for a person who may not sign in. */
export function verifyAssertion(
  content: unknown,
  signIn: ExpectedSignIn,
  config: SamlConfig,
): VerifiedAssertion {
  const result = SignedAssertion.safeParse(content)
  if (!result.success) {
    const path = result.error.issues[0]?.path.join('.')
    throw new ProviderRejected(`the assertion lacks ${path}, or has it more than once`)
  }
  const { Assertion: assertion } = result.data
  if (assertion.Issuer[0]._ !== config.issuer) {
    throw new ProviderRejected('the assertion has another issuer than SAML_ISSUER')
  }
  if (!assertion.Subject[0].SubjectConfirmation.some((one) => confirms(one, signIn))) {
    const reason = 'no bearer confirmation is for this address, this sign-in and this time'
    throw new ProviderRejected(reason)
  }
  return { id: assertion.$.ID, identity: toIdentity(assertion, config) }
}

function confirms(value: unknown, { requestId, recipient, nowMs }: ExpectedSignIn): boolean {
  const { success, data } = Confirmation.safeParse(value)
  if (!success || data.$.Method !== bearer) return false
  const { Recipient, InResponseTo, NotOnOrAfter, NotBefore } = data.SubjectConfirmationData[0].$
  const begins = NotBefore === undefined ? 0 : Date.parse(NotBefore)
  const isNow = nowMs - skewMs < Date.parse(NotOnOrAfter) && begins <= nowMs + skewMs
  return Recipient === recipient && InResponseTo === requestId && isNow
}

function toIdentity(assertion: Assertion, config: SamlConfig): ProvenIdentity {
  const [{ _: subject, $: { Format: format } = {} }] = assertion.Subject[0].NameID
  if (subject.trim() === '' || subject.length > maxSubject) {
    throw new ProviderRejected(`the name identifier is no text of 1 to ${maxSubject} characters`)
  }
  if (format === transientFormat) {
    throw new ProviderRejected('the name identifier is transient: set a persistent one')
  }
  const values = readAttributes(assertion)
  const [address = format === emailFormat ? subject : undefined] =
    values.get(config.emailAttribute) ?? []
  const email = z.email().safeParse(address)
  if (!email.success) {
    const reason = `no attribute ${config.emailAttribute} has a mail address`
    throw new SignInRefusal('identity_provider_no_email', reason)
  }
  const domain = domainOf(email.data)
  if (!config.domains.includes(domain)) {
    const reason = `the domain ${domain} is not in SAML_DOMAINS`
    throw new SignInRefusal('identity_provider_domain', reason)
  }
  const { roleClaim } = config
  return {
    subject,
    sid: undefined,
    email: email.data.toLowerCase(),
    name: values.get(config.nameAttribute)?.[0] ?? email.data.slice(0, email.data.lastIndexOf('@')),
    claimedRole: roleClaim && toClaimedRole(values.get(roleClaim.claim) ?? [], roleClaim),
  }
}

/** Returns the texts of attributes by their names. */
function readAttributes({ AttributeStatement: statements = [] }: Assertion): Map<string, string[]> {
  const values = new Map<string, string[]>()
  const attributes = statements.flatMap((one) => (typeof one === 'string' ? [] : one.Attribute))
  for (const attribute of attributes) {
    if (!attribute) continue
    const texts = (attribute.AttributeValue ?? []).flatMap((value) => {
      const { success, data } = Text.safeParse(value)
      return success ? [data._] : []
    })
    values.set(attribute.$.Name, [...(values.get(attribute.$.Name) ?? []), ...texts])
  }
  return values
}
