import { Group, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client'
import { allRows } from '../../api/paging'
import { Card } from '../../components/card'
import { ResourceList } from '../../components/resource-list'
import { DirectoryTable } from '../scim/directory-table'
import { NewDirectory } from '../scim/new-directory'
import {
  organizationDirectoriesQuery,
  type DirectoryActions,
  type DirectoryFields,
} from '../scim/queries'
import type { Organization } from './queries'

/** The fields that managers of an organization change: operators list the domains. */
const toBody = ({ name, groups }: DirectoryFields) => ({
  name,
  groups: groups.map(({ group_name, role }) => ({ group_name, role })),
})

/** The SCIM directories of an organization; its owner creates them. */
export function OrganizationScim({ organization: { id, role } }: { organization: Organization }) {
  const query = useQuery(organizationDirectoriesQuery(id))
  const actions = useActions(id, role === 'owner')
  return (
    <Card title="SCIM">
      <Text size="sm" c="dimmed">
        An identity provider creates and deactivates members by the token of a directory, for the
        domains that an operator lists.
      </Text>
      <ResourceList
        query={query}
        rows={(directories) => allRows(directories)}
        plural="directories"
        empty="There is no directory yet."
      >
        {(directories) => <DirectoryTable directories={directories} actions={actions} />}
      </ResourceList>
      {actions.create && (
        <Group>
          <NewDirectory create={actions.create} isOperator={false} />
        </Group>
      )}
    </Card>
  )
}

/** The requests of a manager: admins change groups, only the owner has the others. */
function useActions(id: string, isOwner: boolean): DirectoryActions {
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries(organizationDirectoriesQuery(id))
  const pathOf = (directoryId: string) => ({ path: { id, directory_id: directoryId } })
  const change: DirectoryActions['change'] = async (directoryId, fields) => {
    await api.PUT('/api/organizations/{id}/scim-directories/{directory_id}', {
      params: pathOf(directoryId),
      body: toBody(fields),
    })
    await refresh()
  }
  if (!isOwner) return { isOperator: false, change }
  return {
    isOperator: false,
    change,
    async create(fields) {
      const body = toBody(fields)
      const params = { path: { id } }
      const created = await bodyOf(
        api.POST('/api/organizations/{id}/scim-directories', { params, body }),
      )
      await refresh()
      return created
    },
    async replaceToken(directoryId) {
      const path = '/api/organizations/{id}/scim-directories/{directory_id}/token'
      const replaced = await bodyOf(api.POST(path, { params: pathOf(directoryId) }))
      await refresh()
      return replaced
    },
    async remove(directoryId) {
      const path = '/api/organizations/{id}/scim-directories/{directory_id}'
      await api.DELETE(path, { params: pathOf(directoryId) })
      await refresh()
    },
  }
}
