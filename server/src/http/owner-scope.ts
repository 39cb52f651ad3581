import { customIssue } from '../wire/field-error'

/** The owners of connections, pools and gateways: an account, or an organization. Source: contract 7. */
export const scopes = ['individual', 'organization'] as const

/** The payer of requests over an organization's connections. */
export const billingModes = ['org_pays', 'member_pays'] as const

interface ScopedFields {
  scope: (typeof scopes)[number]
  organization_id?: string | undefined
}

/** Finds what contradicts the scope; `names` are the fields that only an organization's may have. */
export function findScopeIssues<Name extends string>(
  fields: ScopedFields & { [Field in Name]?: unknown },
  names: readonly Name[],
) {
  if (fields.scope === 'organization') {
    return fields.organization_id === undefined
      ? [customIssue('required', 'required for scope "organization".', ['organization_id'])]
      : []
  }
  return names
    .filter((name) => fields[name] !== undefined && fields[name] !== false)
    .map((name) => customIssue('not_allowed', 'only allowed for scope "organization".', [name]))
}
