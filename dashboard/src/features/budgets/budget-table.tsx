import { Menu, Modal, Table, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Confirm } from '../../components/confirm'
import { ListTable } from '../../components/list-table'
import { RowMenu } from '../../components/row-menu'
import { When } from '../../components/when'
import { percent } from '../../format/figures'
import { inUnit } from '../quota/quota-bar'
import { BudgetBar } from './budget-bar'
import { BudgetForm, type BudgetOwner } from './budget-form'
import { filterText, windowNames, type Budget } from './queries'

interface Props<Shown extends Budget> {
  budgets: readonly Shown[]
  /** Names what a budget applies to. */
  scopeOf: (budget: Shown) => string
  /** Absent where the reader cannot change them. */
  owner?: BudgetOwner
}

/** Lists budgets with their use. */
export const BudgetTable = <Shown extends Budget>({ budgets, scopeOf, owner }: Props<Shown>) => (
  <ListTable
    columns={[
      'Name',
      'Applies to',
      { name: 'Used', position: 'wide' },
      'When used up',
      'Resets',
      ...(owner ? [{ name: 'Actions', isHidden: true } as const] : []),
    ]}
    minWidth={820}
  >
    {budgets.map((budget) => (
      <BudgetRow
        key={budget.id}
        budget={budget}
        scope={scopeOf(budget)}
        {...(owner && { owner })}
      />
    ))}
  </ListTable>
)

interface RowProps {
  budget: Budget
  scope: string
  owner?: BudgetOwner
}

function BudgetRow({ budget, scope, owner }: RowProps) {
  const { name, window, time_zone: zone, window_end: end } = budget
  const filter = filterText(budget)
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
        {budget.override && <OverrideText {...budget} override={budget.override} />}
      </Table.Td>
      <Table.Td>
        <Effect budget={budget} />
      </Table.Td>
      <Table.Td>{end === null ? 'Never' : <When at={end} />}</Table.Td>
      {owner && (
        <Table.Td ta="right">
          <BudgetMenu budget={budget} owner={owner} />
        </Table.Td>
      )}
    </Table.Tr>
  )
}

type OverrideProps = Pick<Budget, 'unit' | 'amount'> & {
  override: NonNullable<Budget['override']>
}

/** The amount that replaces a budget's for a time, and when. */
const OverrideText = ({
  unit,
  amount,
  override: { amount: other, from, until },
}: OverrideProps) => (
  <Text size="xs" c="dimmed">
    {inUnit(unit, other)} instead of {inUnit(unit, amount)}, from <When at={from} /> to{' '}
    <When at={until} />
  </Text>
)

function BudgetMenu({ budget, owner }: { budget: Budget; owner: BudgetOwner }) {
  const { id, name } = budget
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'edit' | 'delete'>()
  const close = () => setDialog(undefined)
  const remove = async () => {
    await owner.actions.remove(id)
    await queries.invalidateQueries({ queryKey: owner.queryKey })
  }
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item onClick={() => setDialog('edit')}>Edit</Menu.Item>
        <Menu.Item color="red" onClick={() => setDialog('delete')}>
          Delete
        </Menu.Item>
      </RowMenu>
      <Modal opened={dialog === 'edit'} onClose={close} title={`Edit ${name}`}>
        <BudgetForm owner={owner} budget={budget} onClose={close} />
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
    </>
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
