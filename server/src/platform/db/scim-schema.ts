import type { ColumnType, Generated } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** A directory of an identity provider: its token, and what it may touch. */
export interface ScimDirectoryRow {
  id: string
  /** Null for a directory of the installation. */
  organization_id: string | null
  name: string
  /** Domains of mail addresses, in lower case. */
  domains: Generated<string[]>
  token_hash: string
  token_created_at: Generated<Date>
  last_used_at: Date | null
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** A group of a directory, by its name, whose members are members of an organization. */
interface ScimGroupMappingRow {
  directory_id: string
  group_name: string
  organization_id: string
  role: 'admin' | 'developer' | 'viewer' | 'member'
}

/** An account that a directory provisions. */
interface ScimUserRow {
  user_id: string
  directory_id: string
  user_name: string
  external_id: string | null
  attributes: ColumnType<Record<string, unknown>, string, string>
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

interface ScimGroupRow {
  id: string
  directory_id: string
  display_name: string
  external_id: string | null
  version: Generated<number>
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

interface ScimGroupMemberRow {
  group_id: string
  user_id: string
}

export interface ScimSchema {
  scim_directory: ScimDirectoryRow
  scim_group_mapping: ScimGroupMappingRow
  scim_user: ScimUserRow
  scim_group: ScimGroupRow
  scim_group_member: ScimGroupMemberRow
}
