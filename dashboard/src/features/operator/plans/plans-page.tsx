import { Badge, Menu, Modal, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ListTable } from '../../../components/list-table'
import { PlanForm } from './plan-form'
import { api } from '../../../api/client'
import { Confirm } from '../../../components/confirm'
import { ListPage } from '../../../components/list-page'
import { useOperatorAccess } from '../../../api/role'
import { Permitted } from '../../../components/permitted'
import { count } from '../../../format/figures'
import { quotaTypes } from '../../../url/period'
import { formatLimit } from '../quota-requests/limit-text'
import { plansQuery, type Plan } from './queries'
import { useRefresh } from '../refresh'
import { quotaNames } from '../../quota/queries'
import { RowMenu } from '../../../components/row-menu'

export function PlansPage() {
  const { may } = useOperatorAccess()
  const query = useQuery(plansQuery)
  const add = { label: 'New plan', form: (close: () => void) => <PlanForm onClose={close} /> }
  return (
    <ListPage
      title="Plans"
      about="Limits of accounts. New accounts get the default plan; set limits for a single account on its page."
      query={query}
      empty={{ title: 'No plans yet', text: 'Every account has a plan.' }}
      add={may('POST /api/admin/plans') ? add : undefined}
    >
      {(plans) => <PlanTable plans={plans} />}
    </ListPage>
  )
}

const PlanTable = ({ plans }: { plans: readonly Plan[] }) => (
  <ListTable
    columns={[
      'Plan',
      ...quotaTypes.map((type) => ({ name: quotaNames[type], isNumber: true })),
      { name: 'Members per organization', isNumber: true },
      { name: 'Actions', isHidden: true },
    ]}
    minWidth={980}
  >
    {plans.map((plan) => (
      <Table.Tr key={plan.id}>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          <Text size="sm" fw={500}>
            {plan.name}
          </Text>
          {plan.is_default && (
            <Badge variant="light" miw="max-content">
              default
            </Badge>
          )}
        </Table.Td>
        {quotaTypes.map((type) => (
          <Table.Td key={type} ta="right">
            {formatLimit(type, plan[type])}
          </Table.Td>
        ))}
        <Table.Td ta="right">{count(plan.max_org_members)}</Table.Td>
        <Table.Td ta="right">
          <Actions plan={plan} />
        </Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)

type Action = 'change' | 'default' | 'delete'

interface MenuProps {
  plan: Plan
  onAction: (deed: Action) => void
}

const PlanMenu = ({ plan: { id, name, is_default: isDefault }, onAction }: MenuProps) => (
  <RowMenu name={name}>
    <Permitted to="PUT /api/admin/plans/{id}">
      <Menu.Item onClick={() => onAction('change')}>Edit</Menu.Item>
    </Permitted>
    <Menu.Item
      renderRoot={(props) => <Link to="/operator/users" search={{ plan: id }} {...props} />}
    >
      View users
    </Menu.Item>
    {!isDefault && (
      <Permitted to="PUT /api/admin/plans/{id}">
        <Menu.Item onClick={() => onAction('default')}>Set as default</Menu.Item>
        <Menu.Item color="red" onClick={() => onAction('delete')}>
          Delete
        </Menu.Item>
      </Permitted>
    )}
  </RowMenu>
)

function Actions({ plan }: { plan: Plan }) {
  const { id, name } = plan
  const [dialog, setDialog] = useState<Action>()
  const refresh = useRefresh()
  const closeDialog = () => setDialog(undefined)
  const remove = async () => {
    await api.DELETE('/api/admin/plans/{id}', { params: { path: { id } } })
    await refresh()
  }
  return (
    <>
      <PlanMenu plan={plan} onAction={setDialog} />
      <Modal opened={dialog === 'change'} onClose={closeDialog} title={`Edit ${name}`}>
        <PlanForm plan={plan} onClose={closeDialog} />
      </Modal>
      {dialog === 'default' && (
        <Confirm
          question={`Set ${name} as the default plan?`}
          about="New accounts get this plan. Existing accounts keep their plan."
          label="Set as default"
          cancel="Cancel"
          onConfirm={async () => {
            const body = { is_default: true }
            await api.PUT('/api/admin/plans/{id}', { params: { path: { id } }, body })
            await refresh()
          }}
          onClose={closeDialog}
        />
      )}
      {dialog === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Only a plan without users can be deleted."
          label="Delete"
          onConfirm={remove}
          onClose={closeDialog}
        />
      )}
    </>
  )
}
