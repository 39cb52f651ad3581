import { Menu, Modal, Progress, Stack, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client'
import { Confirm } from '../../components/confirm'
import { ListPage } from '../../components/list-page'
import { ListTable } from '../../components/list-table'
import { RowMenu } from '../../components/row-menu'
import { When } from '../../components/when'
import { percent } from '../../format/figures'
import { keysQuery } from '../keys/queries'
import { colorOf, inUnit } from '../quota/quota-bar'
import { BudgetForm } from './budget-form'
import { budgetsQuery, shareOf, windowNames, type Budget } from './queries'

/** The budgets of the account and of its keys. */
export const BudgetsPage = () => (
  <ListPage
    title="Budgets"
    about="Limits of spend or requests for the account or one API key. A request that a budget cannot pay is rejected before it runs."
    query={useQuery(budgetsQuery)}
    empty={{
      title: 'No budgets yet',
      text: 'Create one for an hour, a day, a week, a month, a quarter or a year, in your time zone.',
    }}
    add={{ label: 'New budget', form: (close) => <BudgetForm onClose={close} /> }}
  >
    {(budgets) => <BudgetTable budgets={budgets} />}
  </ListPage>
)

function BudgetTable({ budgets }: { budgets: readonly Budget[] }) {
  const { data: keys = [] } = useQuery(keysQuery)
  const namesById = new Map(keys.map(({ id, name }) => [id, name]))
  return (
    <ListTable
      columns={[
        'Name',
        'Applies to',
        { name: 'Used', position: 'wide' },
        { name: 'Resets', position: 'aside' },
        { name: 'Actions', isHidden: true },
      ]}
      minWidth={640}
    >
      {budgets.map((budget) => (
        <BudgetRow
          key={budget.id}
          budget={budget}
          scope={
            budget.key_id === null
              ? 'The whole account'
              : `API key ${namesById.get(budget.key_id) ?? budget.key_id}`
          }
        />
      ))}
    </ListTable>
  )
}

function BudgetRow({ budget, scope }: { budget: Budget; scope: string }) {
  const { id, name, window, time_zone: zone, window_end: end } = budget
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'edit' | 'delete'>()
  const close = () => setDialog(undefined)
  const remove = async () => {
    await api.DELETE('/api/account/budgets/{budget_id}', { params: { path: { budget_id: id } } })
    await queries.invalidateQueries(budgetsQuery)
  }
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        {name}
        <Text size="xs" c="dimmed">
          {window === 'total' ? windowNames.total : `Per ${window}, ${zone.replaceAll('_', ' ')}`}
        </Text>
      </Table.Td>
      <Table.Td>{scope}</Table.Td>
      <Table.Td miw={180}>
        <Used budget={budget} />
      </Table.Td>
      <Table.Td>{end === null ? 'Never' : <When at={end} />}</Table.Td>
      <Table.Td ta="right">
        <RowMenu name={name}>
          <Menu.Item onClick={() => setDialog('edit')}>Edit</Menu.Item>
          <Menu.Item color="red" onClick={() => setDialog('delete')}>
            Delete
          </Menu.Item>
        </RowMenu>
        <Modal opened={dialog === 'edit'} onClose={close} title={`Edit ${name}`}>
          <BudgetForm budget={budget} onClose={close} />
        </Modal>
        {dialog === 'delete' && (
          <Confirm
            question={`Delete the budget ${name}?`}
            about="Requests are no longer limited by it."
            label="Delete"
            onConfirm={remove}
            onClose={close}
          />
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function Used({ budget }: { budget: Budget }) {
  const { unit, used, amount, name } = budget
  const share = shareOf(budget)
  return (
    <Stack gap={4}>
      <Text size="sm">
        {inUnit(unit, used)} of {inUnit(unit, amount)}
      </Text>
      <Progress value={share} color={colorOf(share)} aria-label={`${percent(share)} of ${name}`} />
    </Stack>
  )
}
