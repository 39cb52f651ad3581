import { Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListPage } from '../../components/list-page'
import { keysQuery } from '../keys/queries'
import { organizationsQuery } from '../organizations/queries'
import { BudgetForm, type BudgetOwner } from './budget-form'
import { BudgetTable } from './budget-table'
import { accountBudgets, budgetsQuery, type OrganizationBudget } from './queries'

/** The budgets of the account and of its keys, and those of its organizations that bind it. */
export function BudgetsPage() {
  const { data: keys = [] } = useQuery(keysQuery)
  const namesById = new Map(keys.map(({ id, name }) => [id, name]))
  const owner: BudgetOwner = {
    actions: accountBudgets,
    queryKey: budgetsQuery.queryKey,
    subjects: [
      { value: '', label: 'The whole account' },
      ...keys.map(({ id, name }) => ({ value: id, label: `API key ${name}` })),
    ],
  }
  return (
    <ListPage
      title="Budgets"
      about="Limits of spend, requests or tokens for the account or one API key, or for some models, providers or tags. They reject requests that they cannot pay, or only notify."
      query={useQuery({ ...budgetsQuery, select: ({ budgets }) => budgets })}
      empty={{
        title: 'No budgets yet',
        text: 'Create one for an hour, a day, a week, a month, a quarter or a year, in your time zone.',
      }}
      add={{
        label: 'New budget',
        form: (close) => <BudgetForm owner={owner} onClose={close} />,
      }}
      below={<BindingBudgets />}
    >
      {(budgets) => (
        <BudgetTable
          budgets={budgets}
          owner={owner}
          scopeOf={({ key_id: keyId }) =>
            keyId === null ? 'The whole account' : `API key ${namesById.get(keyId) ?? keyId}`
          }
        />
      )}
    </ListPage>
  )
}

/** The budgets of organizations that bind the account, which it cannot change here. */
function BindingBudgets() {
  const { data } = useQuery(budgetsQuery)
  const { data: organizations = [] } = useQuery(organizationsQuery)
  const budgets = data?.organization_budgets ?? []
  if (budgets.length === 0) return null
  const namesById = new Map(organizations.map(({ id, name }) => [id, name]))
  const scopeOf = ({ organization_id: id, member_id: member, department }: OrganizationBudget) => {
    const name = namesById.get(id) ?? id
    if (member !== null) return `You in ${name}`
    return department === null ? `All members of ${name}` : `${department} in ${name}`
  }
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        Budgets of your organizations
      </Title>
      <BudgetTable budgets={budgets} scopeOf={scopeOf} />
    </Stack>
  )
}
