import { useQueryClient } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { OrganizationForm } from './organization-form'
import { organizationsQuery, type Organization } from './queries'

export function OrganizationLimits({ organization }: { organization: Organization }) {
  const queries = useQueryClient()
  const { id } = organization
  const save = async (body: Schemas['ChangedOrganization']) => {
    const params = { path: { id } }
    const saved = await bodyOf(api.PUT('/api/organizations/{id}', { params, body }))
    await queries.invalidateQueries(organizationsQuery)
    return saved
  }
  return (
    <OrganizationForm
      organization={organization}
      canRename={organization.role === 'owner'}
      onSave={save}
    />
  )
}
