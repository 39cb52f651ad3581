import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

export type ScimDirectory = Schemas['ScimDirectory']
/** A directory with its token, which is returned once. */
export type DirectoryWithToken = Schemas['ScimDirectoryWithToken']
export type GroupMapping = ScimDirectory['groups'][number]

/** The directories of an organization. */
export const organizationDirectoriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['organizations', id, 'scim-directories'],
    queryFn: async () => {
      const params = { path: { id } }
      const body = await bodyOf(api.GET('/api/organizations/{id}/scim-directories', { params }))
      return body.directories
    },
  })

const pageSize = 100

/** The latest hundred directories of the installation and of organizations. */
export const allDirectoriesQuery = queryOptions({
  queryKey: ['operator', 'scim-directories'],
  queryFn: async () => {
    const query = { limit: pageSize }
    return (await bodyOf(api.GET('/api/admin/scim-directories', { params: { query } }))).directories
  },
})

/** The fields of a directory that a form changes. */
export interface DirectoryFields {
  name: string
  domains: string[]
  groups: GroupMapping[]
}

/** The requests for the directories of an owner; those that its viewer may not send are undefined. */
export interface DirectoryActions {
  /** Whether the viewer lists domains and organizations: operators do. */
  isOperator: boolean
  create?: (fields: DirectoryFields) => Promise<DirectoryWithToken>
  change: (id: string, fields: DirectoryFields) => Promise<unknown>
  replaceToken?: (id: string) => Promise<DirectoryWithToken>
  remove?: (id: string) => Promise<unknown>
}
