import { X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { isLoopbackHost } from './address'
import { optional } from './fields'
import { ClaimName, ClaimValues, Domains, ProviderName, type RoleClaim } from './identity-provider'
import { setting } from './setting'

/** One that signs, one that signs from some day on, and two that no one has removed. */
const maxCertificates = 4
const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Returns the certificates of a text as PEM: blocks of PEM, or the Base64 that metadata has. Throws for any other text. */
function readCertificates(text: string): string[] {
  const blocks = text.match(certificateBlock) ?? text.split(',').map(toBlock)
  const rest = text.replaceAll(certificateBlock, '').replaceAll(',', '').trim()
  if (text.includes('-----') && rest !== '') throw new Error('there is text beside the blocks')
  return blocks.map((block) => {
    const { publicKey } = new X509Certificate(block)
    if (publicKey.asymmetricKeyType !== 'rsa' && publicKey.asymmetricKeyType !== 'ec')
      throw new Error('the key is neither RSA nor ECDSA')
    return block
  })
}

const toBlock = (encoded: string) => {
  const lines = encoded.replaceAll(/\s/g, '').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----'].join('\n')
}

const Certificates = z.string().transform((text, ctx) => {
  try {
    const certificates = readCertificates(text)
    if (certificates.length <= maxCertificates) return certificates
  } catch {
    // The message says what is expected.
  }
  const message = `must be 1 to ${maxCertificates} certificates, as PEM`
  ctx.addIssue({ code: 'custom', message })
  return z.NEVER
})

/** Whether a URL may lead a browser to sign in: https, or http on this machine. */
function isSignInUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password || url.hash) return false
  return url.protocol === 'https:' || isLoopbackHost(url.hostname)
}

/** The settings of the identity provider that signs accounts in over SAML. */
export const samlSettings = z.object({
  issuer: setting(optional(z.string().regex(/^[!-~]{1,1024}$/, 'must be an entity id')), {
    name: 'SAML_ISSUER',
    doc: "the entity id of a company's identity provider, exactly as its metadata has it: accounts sign in by SAML 2.0 ([sign-in.md](sign-in.md#saml))",
  }),
  signInUrl: setting(
    optional(
      z
        .url({ protocol: /^https?$/ })
        .refine(isSignInUrl, 'must be an https URL without user and fragment'),
    ),
    {
      name: 'SAML_SIGN_IN_URL',
      doc: 'its address for sign-ins with the binding HTTP-Redirect',
    },
  ),
  certificates: setting(optional(Certificates), {
    name: 'SAML_CERTIFICATES',
    doc: 'certificates that it signs with, as PEM one after another, or in Base64 with commas between them: two while it changes them',
  }),
  domains: setting(optional(Domains), {
    name: 'SAML_DOMAINS',
    doc: 'domains of the mail addresses that it may sign in: `example.com,example.org`; no subdomains of them',
  }),
  requiredDomains: setting(optional(Domains), {
    name: 'SAML_REQUIRED_DOMAINS',
    doc: 'those of `SAML_DOMAINS` whose accounts sign in by it alone: no passwords, links, GitHub and Google',
  }),
  name: setting(ProviderName.clone(), {
    name: 'SAML_NAME',
    doc: 'its name on the button of the sign-in page: *Continue with …*',
  }),
  signUp: setting(z.enum(['open', 'invite', 'closed']).default('open'), {
    name: 'SAML_SIGNUP',
    doc: 'whether a first sign-in by it creates an account: `open`, `invite` for invited addresses, `closed`; `SIGNUP` does not count for it',
  }),
  emailAttribute: setting(ClaimName.default('email'), {
    name: 'SAML_EMAIL_ATTRIBUTE',
    doc: 'the attribute with the mail address; without it a name identifier of the format `emailAddress` counts',
  }),
  nameAttribute: setting(ClaimName.default('name'), {
    name: 'SAML_NAME_ATTRIBUTE',
    doc: "the attribute with the person's name",
  }),
  operatorAttribute: setting(optional(ClaimName), {
    name: 'SAML_OPERATOR_ATTRIBUTE',
    doc: 'an attribute, such as `groups`, that decides at each sign-in by it whether the account is an operator',
  }),
  operatorValues: setting(optional(ClaimValues), {
    name: 'SAML_OPERATOR_VALUES',
    doc: 'values of that attribute that make an operator, with commas between them',
  }),
  supportValues: setting(optional(ClaimValues), {
    name: 'SAML_SUPPORT_VALUES',
    doc: 'values of that attribute that give the role `support` ([roles.md](roles.md))',
  }),
  financeValues: setting(optional(ClaimValues), {
    name: 'SAML_FINANCE_VALUES',
    doc: 'values of that attribute that give the role `finance`',
  }),
  readOnlyValues: setting(optional(ClaimValues), {
    name: 'SAML_READ_ONLY_VALUES',
    doc: 'values of that attribute that give the role `read_only`',
  }),
})

type Values = z.output<typeof samlSettings>

/** The identity provider that signs accounts of some domains in over SAML. */
export interface SamlConfig extends Pick<
  Values,
  'name' | 'signUp' | 'emailAttribute' | 'nameAttribute'
> {
  issuer: string
  signInUrl: string
  /** The certificates whose signatures count, as PEM. */
  certificates: readonly string[]
  /** The domains of the mail addresses that it may sign in, in lower case. */
  domains: readonly string[]
  /** Those of them whose accounts sign in by it alone. */
  requiredDomains: readonly string[]
  roleClaim: RoleClaim | undefined
}

/** Returns what is missing or contradicts itself in the settings, naming the variable; undefined if nothing does. */
export function findSamlProblem(values: Values, hasOpenId: boolean): string | undefined {
  const { issuer, domains = [], requiredDomains = [], operatorAttribute, operatorValues } = values
  const providerFields = [
    ['SAML_SIGN_IN_URL', values.signInUrl],
    ['SAML_CERTIFICATES', values.certificates],
    ['SAML_DOMAINS', values.domains],
  ] as const
  const roleFields = [
    ['SAML_SUPPORT_VALUES', values.supportValues],
    ['SAML_FINANCE_VALUES', values.financeValues],
    ['SAML_READ_ONLY_VALUES', values.readOnlyValues],
  ] as const
  if (issuer === undefined) {
    const others = [
      ['SAML_REQUIRED_DOMAINS', values.requiredDomains],
      ['SAML_OPERATOR_ATTRIBUTE', operatorAttribute],
      ['SAML_OPERATOR_VALUES', operatorValues],
    ] as const
    const [variable] =
      [...providerFields, ...others, ...roleFields].find(([, value]) => value !== undefined) ?? []
    return variable && `SAML_ISSUER is required with ${variable}`
  }
  if (hasOpenId) return 'OIDC_ISSUER_URL and SAML_ISSUER: set one of them, not both'
  const [missingVariable] = providerFields.find(([, value]) => value === undefined) ?? []
  if (missingVariable) return `${missingVariable} is required with SAML_ISSUER`
  const foreignDomain = requiredDomains.find((domain) => !domains.includes(domain))
  if (foreignDomain) return `SAML_REQUIRED_DOMAINS: ${foreignDomain} is not in SAML_DOMAINS`
  if ((operatorAttribute === undefined) !== (operatorValues === undefined)) {
    return 'SAML_OPERATOR_ATTRIBUTE and SAML_OPERATOR_VALUES: set both, or neither'
  }
  const [unread] = roleFields.find(([, value]) => value !== undefined) ?? []
  return operatorAttribute === undefined && unread !== undefined
    ? `SAML_OPERATOR_ATTRIBUTE is required with ${unread}`
    : undefined
}

/** Returns the identity provider; undefined without one. */
export function toSamlConfig(values: Values): SamlConfig | undefined {
  const { issuer, signInUrl, certificates, domains, requiredDomains = [] } = values
  const { name, signUp, emailAttribute, nameAttribute } = values
  if (!issuer || !signInUrl || !certificates || !domains) return undefined
  const provider = { issuer, signInUrl, certificates, domains, requiredDomains }
  const reading = { name, signUp, emailAttribute, nameAttribute }
  return { ...provider, ...reading, roleClaim: toRoleAttribute(values) }
}

function toRoleAttribute(values: Values): RoleClaim | undefined {
  const { operatorAttribute, operatorValues } = values
  if (!operatorAttribute || !operatorValues) return undefined
  const { supportValues = [], financeValues = [], readOnlyValues = [] } = values
  const lesser = { support: supportValues, finance: financeValues, read_only: readOnlyValues }
  return { claim: operatorAttribute, values: { operator: operatorValues, ...lesser } }
}
