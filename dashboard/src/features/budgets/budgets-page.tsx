import { Menu, Modal, Table, Text } from '@mantine/core'
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
import { BudgetBar } from './budget-bar'
import { BudgetForm } from './budget-form'
import { budgetsQuery, filterText, windowNames, type Budget } from './queries'

/** The budgets of the account and of its keys. */
export const BudgetsPage = () => (
  <ListPage
    title="Budgets"
    about="Limits of spend, requests or tokens for the account or one API key, or for some models, providers or tags. They reject requests that they cannot pay, or only notify."
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
        'When used up',
        'Resets',
        { name: 'Actions', isHidden: true },
      ]}
      minWidth={820}
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
  const filter = filterText(budget)
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
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        {scope}
        {filter !== undefined && (
          <Text size="xs" c="dimmed">
            {filter}
          </Text>
        )}
      </Table.Td>
      <Table.Td miw={180}>
        <BudgetBar budget={budget} />
      </Table.Td>
      <Table.Td>
        <Effect budget={budget} />
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
            about="It no longer limits requests, and no longer notifies."
            label="Delete"
            onConfirm={remove}
            onClose={close}
          />
        )}
      </Table.Td>
    </Table.Tr>
  )
}

/** The effect of a budget that is used up, and the percents of which it notifies. */
function Effect({ budget }: { budget: Budget }) {
  const { enforcement, notify_percents: percents, notified_percent: notified } = budget
  return (
    <>
      <Text size="sm">{enforcement === 'hard' ? 'Rejects requests' : 'Only notifies'}</Text>
      <Text size="xs" c="dimmed">
        {percents.length === 0 ? 'No notifications' : `Notifies at ${joinPercents(percents)}`}
        {notified !== null && `; notified at ${percent(notified)}`}
      </Text>
    </>
  )
}

const joinPercents = (percents: readonly number[]) => percents.map(percent).join(', ')
