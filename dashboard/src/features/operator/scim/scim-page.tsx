import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../../../api/client'
import { allRows } from '../../../api/paging'
import { useOperatorAccess } from '../../../api/role'
import { Page } from '../../../components/page'
import { PermittedForms } from '../../../components/permitted'
import { ResourceList } from '../../../components/resource-list'
import { DirectoryTable } from '../../scim/directory-table'
import { NewDirectory } from '../../scim/new-directory'
import { allDirectoriesQuery, type DirectoryActions } from '../../scim/queries'
import { useRefresh } from '../refresh'

/** The SCIM directories of the installation and of organizations. */
export function ScimPage() {
  const refresh = useRefresh()
  const query = useQuery(allDirectoriesQuery)
  const create: Required<DirectoryActions>['create'] = async (body) => {
    const created = await bodyOf(api.POST('/api/admin/scim-directories', { body }))
    await refresh()
    return created
  }
  const actions: DirectoryActions = {
    isOperator: true,
    async change(id, body) {
      await api.PUT('/api/admin/scim-directories/{id}', { params: { path: { id } }, body })
      await refresh()
    },
    async replaceToken(id) {
      const params = { path: { id } }
      const replaced = await bodyOf(api.POST('/api/admin/scim-directories/{id}/token', { params }))
      await refresh()
      return replaced
    },
    async remove(id) {
      await api.DELETE('/api/admin/scim-directories/{id}', { params: { path: { id } } })
      await refresh()
    },
  }
  const { may } = useOperatorAccess()
  const isEditor = may('POST /api/admin/scim-directories')
  const add = isEditor && <NewDirectory create={create} isOperator />
  return (
    <Page
      title="SCIM"
      about="Directories by which identity providers create, change and deactivate accounts."
      actions={query.data && query.data.length > 0 && add}
    >
      <ResourceList
        query={query}
        rows={(directories) => allRows(directories)}
        plural="directories"
        empty={{
          title: 'No directories yet',
          text: 'Create one, and give its token to the identity provider.',
          action: add,
        }}
      >
        {(directories) => (
          <PermittedForms to="PUT /api/admin/scim-directories/{id}">
            <DirectoryTable directories={directories} actions={actions} />
          </PermittedForms>
        )}
      </ResourceList>
    </Page>
  )
}
