import { z } from 'zod'
import { isLoopbackHost } from './address'
import { optional } from './fields'
import type { OperatorRole } from '../operator-role'
import { setting } from './setting'

const maxDomains = 100
const maxValues = 100

/** Whether a URL is an issuer: https, or http on this machine, without user, query and fragment. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password || /[?#]/.test(text)) return false
  return url.protocol === 'https:' || isLoopbackHost(url.hostname)
}

const Issuer = z
  .url({ protocol: /^https?$/ })
  .refine(isIssuer, 'must be an https URL without user, query and fragment')

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const domainPattern = new RegExp(String.raw`^${label}(\.${label})+$`)

const toList = (text: string) => text.split(',').flatMap((item) => item.trim() || [])

/** Parses domains of mail addresses, separated by commas. */
export const Domains = z
  .string()
  .transform((text) => toList(text.toLowerCase()))
  .refine(
    (domains) =>
      domains.length > 0 &&
      domains.length <= maxDomains &&
      domains.every((domain) => domainPattern.test(domain)),
    'must be domains such as example.com, with commas between them',
  )

/** Parses the values of a claim, separated by commas. */
export const ClaimValues = z
  .string()
  .transform(toList)
  .refine(
    (values) => values.length > 0 && values.length <= maxValues,
    `must be 1 to ${maxValues} values with commas between them`,
  )

/** The name of a claim or an attribute. */
export const ClaimName = z.string().max(200)

/** The name of an identity provider on the button of the sign-in page. */
export const ProviderName = z
  .string()
  .regex(/^\P{Cc}{1,40}$/u, 'must be one line of at most 40 characters')
  .default('single sign-on')

const Scopes = z
  .string()
  .default('openid email profile')
  .transform((text) => text.split(/\s+/).filter(Boolean))
  .refine(
    (scopes) => scopes.includes('openid') && scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope)),
    'must be scopes with spaces between them, openid among them',
  )

/** Source: RFC 6749, appendix A. */
const printable = /^[ -~]+$/

/** The settings of the identity provider that signs accounts in. */
export const identityProviderSettings = z.object({
  issuer: setting(optional(Issuer), {
    name: 'OIDC_ISSUER_URL',
    doc: "the issuer of a company's identity provider, exactly as its discovery document names it: accounts sign in by OpenID Connect ([sign-in.md](sign-in.md))",
  }),
  clientId: setting(optional(z.string().regex(printable, 'must be a client id')), {
    name: 'OIDC_CLIENT_ID',
    doc: 'the client there; its redirect URI is `{BASE_URL}/api/auth/callback/oidc`',
  }),
  clientSecret: setting(optional(z.string().regex(printable, 'must be a client secret')), {
    name: 'OIDC_CLIENT_SECRET',
    doc: 'its secret',
  }),
  domains: setting(optional(Domains), {
    name: 'OIDC_DOMAINS',
    doc: 'domains of the mail addresses that it may sign in: `example.com,example.org`; no subdomains of them',
  }),
  requiredDomains: setting(optional(Domains), {
    name: 'OIDC_REQUIRED_DOMAINS',
    doc: 'those of `OIDC_DOMAINS` whose accounts sign in by it alone: no passwords, links, GitHub and Google',
  }),
  name: setting(ProviderName.clone(), {
    name: 'OIDC_NAME',
    doc: 'its name on the button of the sign-in page: *Continue with …*',
  }),
  scopes: setting(Scopes, {
    name: 'OIDC_SCOPES',
    doc: 'scopes that a sign-in requests, with spaces between them',
  }),
  signUp: setting(z.enum(['open', 'invite', 'closed']).default('open'), {
    name: 'OIDC_SIGNUP',
    doc: 'whether a first sign-in by it creates an account: `open`, `invite` for invited addresses, `closed`; `SIGNUP` does not count for it',
  }),
  emailVerifiedClaim: setting(ClaimName.default('email_verified'), {
    name: 'OIDC_EMAIL_VERIFIED_CLAIM',
    doc: 'the claim that confirms the address; `xms_edov` for Entra ID',
  }),
  operatorClaim: setting(optional(ClaimName), {
    name: 'OIDC_OPERATOR_CLAIM',
    doc: 'a claim, such as `groups`, that decides at each sign-in by it whether the account is an operator',
  }),
  operatorValues: setting(optional(ClaimValues), {
    name: 'OIDC_OPERATOR_VALUES',
    doc: 'values of that claim that make an operator, with commas between them',
  }),
  supportValues: setting(optional(ClaimValues), {
    name: 'OIDC_SUPPORT_VALUES',
    doc: 'values of that claim that give the role `support` ([roles.md](roles.md))',
  }),
  financeValues: setting(optional(ClaimValues), {
    name: 'OIDC_FINANCE_VALUES',
    doc: 'values of that claim that give the role `finance`',
  }),
  readOnlyValues: setting(optional(ClaimValues), {
    name: 'OIDC_READ_ONLY_VALUES',
    doc: 'values of that claim that give the role `read_only`',
  }),
})

type Values = z.output<typeof identityProviderSettings>

/** The claim that gives roles of operators, and its values for each. */
export interface RoleClaim {
  claim: string
  values: Readonly<Record<OperatorRole, readonly string[]>>
}

/** The identity provider that signs accounts of some domains in. */
export interface IdentityProviderConfig extends Pick<
  Values,
  'name' | 'scopes' | 'signUp' | 'emailVerifiedClaim'
> {
  issuer: string
  clientId: string
  clientSecret: string
  /** The domains of the mail addresses that it may sign in, in lower case. */
  domains: readonly string[]
  /** Those of them whose accounts sign in by it alone. */
  requiredDomains: readonly string[]
  roleClaim: RoleClaim | undefined
}

/** Returns what is missing or contradicts itself in the settings, naming the variable; undefined if nothing does. */
export function findIdentityProviderProblem(values: Values): string | undefined {
  const { domains = [], requiredDomains = [], operatorClaim, operatorValues } = values
  const client = [
    ['OIDC_CLIENT_ID', values.clientId],
    ['OIDC_CLIENT_SECRET', values.clientSecret],
    ['OIDC_DOMAINS', values.domains],
  ] as const
  if (values.issuer === undefined) {
    const others = [
      ['OIDC_REQUIRED_DOMAINS', values.requiredDomains],
      ['OIDC_OPERATOR_CLAIM', operatorClaim],
      ['OIDC_OPERATOR_VALUES', operatorValues],
    ] as const
    const [variable] =
      [...client, ...others, ...lesserValuesOf(values)].find(([, value]) => value !== undefined) ??
      []
    return variable && `OIDC_ISSUER_URL is required with ${variable}`
  }
  const [missingVariable] = client.find(([, value]) => value === undefined) ?? []
  if (missingVariable) return `${missingVariable} is required with OIDC_ISSUER_URL`
  const foreignDomain = requiredDomains.find((domain) => !domains.includes(domain))
  if (foreignDomain) return `OIDC_REQUIRED_DOMAINS: ${foreignDomain} is not in OIDC_DOMAINS`
  if ((operatorClaim === undefined) !== (operatorValues === undefined)) {
    return 'OIDC_OPERATOR_CLAIM and OIDC_OPERATOR_VALUES: set both, or neither'
  }
  const [unread] = lesserValuesOf(values).find(([, value]) => value !== undefined) ?? []
  return operatorClaim === undefined && unread !== undefined
    ? `OIDC_OPERATOR_CLAIM is required with ${unread}`
    : undefined
}

/** The settings of roles beside that of full operators, by their variables. */
const lesserValuesOf = ({ supportValues, financeValues, readOnlyValues }: Values) =>
  [
    ['OIDC_SUPPORT_VALUES', supportValues],
    ['OIDC_FINANCE_VALUES', financeValues],
    ['OIDC_READ_ONLY_VALUES', readOnlyValues],
  ] as const

/** Returns the identity provider; undefined without one. */
export function toIdentityProviderConfig(values: Values): IdentityProviderConfig | undefined {
  const { issuer, clientId, clientSecret, domains, requiredDomains = [] } = values
  const { name, scopes, signUp, emailVerifiedClaim } = values
  if (!issuer || !clientId || !clientSecret || !domains) return undefined
  const client = { issuer, clientId, clientSecret, domains, requiredDomains }
  return { ...client, name, scopes, signUp, emailVerifiedClaim, roleClaim: toRoleClaim(values) }
}

function toRoleClaim({ operatorClaim, operatorValues, ...values }: Values): RoleClaim | undefined {
  if (!operatorClaim || !operatorValues) return undefined
  const { supportValues = [], financeValues = [], readOnlyValues = [] } = values
  const lesser = { support: supportValues, finance: financeValues, read_only: readOnlyValues }
  return { claim: operatorClaim, values: { operator: operatorValues, ...lesser } }
}
