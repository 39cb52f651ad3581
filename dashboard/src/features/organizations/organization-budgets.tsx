import { Button, Group, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { allRows } from '../../api/paging'
import { ResourceList } from '../../components/resource-list'
import { BudgetForm, type BudgetOwner } from '../budgets/budget-form'
import { BudgetTable } from '../budgets/budget-table'
import {
  organizationBudgets,
  organizationBudgetsQuery,
  toDepartmentSubject,
} from '../budgets/queries'
import { allMembersQuery, isManager, type Member, type Organization } from './queries'

/** The budgets of an organization: managers change them, other members see those that bind them. */
export function OrganizationBudgets({ organization }: { organization: Organization }) {
  const { id } = organization
  const [isOpen, { open, close }] = useDisclosure()
  const { data: members = [] } = useQuery(allMembersQuery(id))
  const query = organizationBudgetsQuery(id)
  const owner: BudgetOwner | undefined = isManager(organization)
    ? {
        actions: organizationBudgets(id),
        queryKey: query.queryKey,
        subjects: toSubjects(members),
      }
    : undefined
  const namesById = new Map(members.map((member) => [member.user_id, member.display_name]))
  const button = owner && <Button onClick={open}>New budget</Button>
  return (
    <Stack gap="sm">
      <ResourceList
        query={useQuery(query)}
        rows={(budgets) => allRows(budgets)}
        plural="budgets"
        empty={{
          title: 'No budgets yet',
          text: 'Budgets limit what this organization pays: for all members, for one, or for a department.',
          ...(button && { action: button }),
        }}
      >
        {(budgets) => (
          <>
            {button && <Group justify="flex-end">{button}</Group>}
            <BudgetTable
              budgets={budgets}
              {...(owner && { owner })}
              scopeOf={({ member_id: member, department }) => {
                if (member !== null) return namesById.get(member) ?? member
                return department === null ? 'All members' : `Department ${department}`
              }}
            />
          </>
        )}
      </ResourceList>
      {owner && (
        <Modal opened={isOpen} onClose={close} title="New budget">
          <BudgetForm owner={owner} onClose={close} />
        </Modal>
      )}
    </Stack>
  )
}

function toSubjects(members: readonly Member[]) {
  const departments = new Set(members.flatMap(({ department }) => department ?? []))
  return [
    { value: '', label: 'All members' },
    ...members.map(({ user_id: value, display_name: label }) => ({ value, label })),
    ...[...departments].map((name) => ({
      value: toDepartmentSubject(name),
      label: `Department ${name}`,
    })),
  ]
}
