import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { line } from '../../../http/fields'

/** Roles that a group can give: the owner is one, and appointed. */
export const groupRoles = ['admin', 'developer', 'viewer', 'member'] as const

const maxGroups = 100
const maxDomains = 50

const groupName = line(256).describe('Name of the group at the identity provider')
const role = z.enum(groupRoles).describe('Role of its members in the organization')

/** Group names do not differ by case, as SCIM has it. */
const isUnique = (keys: readonly string[]) => new Set(keys).size === keys.length
const duplicate = { params: { issue: 'duplicate' }, message: 'has a group twice.' }

const ownGroups = z
  .array(z.object({ group_name: groupName, role }))
  .max(maxGroups)
  .refine((groups) => isUnique(groups.map((group) => group.group_name.toLowerCase())), duplicate)

const installationGroups = z
  .array(
    z.object({
      group_name: groupName,
      organization_id: objectId('org').describe('The organization that its members join'),
      role,
    }),
  )
  .max(maxGroups)
  .refine(
    (groups) =>
      isUnique(groups.map((group) => `${group.organization_id} ${group.group_name.toLowerCase()}`)),
    duplicate,
  )

/** The domain of mail addresses, in lower case. */
const domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(/^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]{0,61}[a-z\d]$/, {
    error: 'must be a domain such as example.com.',
  })

const domains = z
  .array(domain)
  .max(maxDomains)
  .transform((all) => [...new Set(all)])
  .describe('Domains of the addresses that the directory may use; without any it creates no user')

/** Source: contract 2.6. */
export const NewScimDirectory = z
  .object({ name: line(100), groups: ownGroups.default([]) })
  .meta({ ref: 'NewScimDirectory' })
export type NewScimDirectory = z.output<typeof NewScimDirectory>

export const ChangedScimDirectory = z
  .object({ name: line(100), groups: ownGroups })
  .partial()
  .meta({ ref: 'ChangedScimDirectory' })
export type ChangedScimDirectory = z.output<typeof ChangedScimDirectory>

export const NewInstallationDirectory = z
  .object({ name: line(100), domains, groups: installationGroups.default([]) })
  .meta({ ref: 'NewInstallationDirectory' })
export type NewInstallationDirectory = z.output<typeof NewInstallationDirectory>

export const ChangedInstallationDirectory = z
  .object({ name: line(100), domains, groups: installationGroups })
  .partial()
  .meta({ ref: 'ChangedInstallationDirectory' })
export type ChangedInstallationDirectory = z.output<typeof ChangedInstallationDirectory>

const fields = {
  id: objectId('dir'),
  name: z.string(),
  organization_id: objectId('org').nullable().describe('Null for one of the installation'),
  scim_url: z
    .string()
    .meta({ examples: ['https://tollgate.example.com/scim/v2'] })
    .describe('The base URL for the identity provider'),
  domains: z.array(z.string()).describe('Only operators change them'),
  groups: z.array(
    z.object({
      group_name: z.string(),
      organization_id: objectId('org'),
      role: z.enum(groupRoles),
    }),
  ),
  user_count: z.int(),
  token_created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable().describe('The last use of the token, to the minute'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}

export const ScimDirectory = z.object(fields).meta({ ref: 'ScimDirectory' })

export const ScimDirectoryWithToken = z
  .object({
    ...fields,
    token: z
      .string()
      .meta({ examples: ['sc-tg-...'] })
      .describe('Shown only now: Tollgate stores its hash'),
  })
  .meta({ ref: 'ScimDirectoryWithToken' })

export const ScimDirectoryList = z
  .object({ directories: z.array(ScimDirectory) })
  .meta({ ref: 'ScimDirectoryList' })
