import { useQueryClient } from '@tanstack/react-query'
import { api, json } from '../api'
import { OrganizationForm } from '../components/organization-form'
import { organizationsQuery, type Organization } from '../organizations'

export function OrganizationLimits({ organization }: { organization: Organization }) {
  const queries = useQueryClient()
  const { id } = organization
  const save = async (changes: object) => {
    const answer = await api.organizations[':id'].$put({ param: { id } }, json(changes))
    await queries.invalidateQueries(organizationsQuery)
    return answer.json()
  }
  return (
    <OrganizationForm
      organization={organization}
      canRename={organization.role === 'owner'}
      save={save}
    />
  )
}
