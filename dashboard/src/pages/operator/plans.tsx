import { Badge, Menu, Modal, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { PlanForm } from './plan-form'
import { admin, json } from '../../api'
import { Confirm } from '../../components/confirm'
import { ListPage } from '../../components/list-page'
import { count } from '../../figures'
import { quotaTypes } from '../../money-search'
import { limitWords } from '../../operator/limit-words'
import { plansQuery, type Plan } from '../../operator/plans'
import { useRefresh } from '../../operator/refresh'
import { quotaNames } from '../../quota'
import { RowMenu } from '../../components/row-menu'

async function make(fields: object) {
  await admin.plans.$post(undefined, json(fields))
}

export const PlansPage = () => (
  <ListPage
    title="Plans"
    about="Limits of accounts. New accounts get the default plan; set limits for a single account on its page."
    query={useQuery(plansQuery)}
    empty={{ title: 'No plans yet', text: 'Every account has a plan.' }}
    add={{ label: 'New plan', form: (close) => <PlanForm save={make} onClose={close} /> }}
  >
    {(plans) => <PlanTable plans={plans} />}
  </ListPage>
)

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
            {limitWords(type, plan[type])}
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

type Deed = 'change' | 'default' | 'delete'

interface MenuProps {
  plan: Plan
  onAsk: (deed: Deed) => void
}

const PlanMenu = ({ plan: { id, name, is_default: isDefault }, onAsk }: MenuProps) => (
  <RowMenu name={name}>
    <Menu.Item onClick={() => onAsk('change')}>Edit</Menu.Item>
    <Menu.Item
      renderRoot={(props) => <Link to="/operator/users" search={{ plan: id }} {...props} />}
    >
      View users
    </Menu.Item>
    {!isDefault && (
      <>
        <Menu.Item onClick={() => onAsk('default')}>Set as default</Menu.Item>
        <Menu.Item color="red" onClick={() => onAsk('delete')}>
          Delete
        </Menu.Item>
      </>
    )}
  </RowMenu>
)

function Actions({ plan }: { plan: Plan }) {
  const { id, name } = plan
  const [asked, setAsked] = useState<Deed>()
  const refresh = useRefresh()
  const done = () => setAsked(undefined)
  const save = async (fields: object) => {
    await admin.plans[':id'].$put({ param: { id } }, json(fields))
  }
  const remove = async () => {
    await admin.plans[':id'].$delete({ param: { id } })
    await refresh()
  }
  return (
    <>
      <PlanMenu plan={plan} onAsk={setAsked} />
      <Modal opened={asked === 'change'} onClose={done} title={`Edit ${name}`}>
        <PlanForm plan={plan} save={save} onClose={done} />
      </Modal>
      {asked === 'default' && (
        <Confirm
          question={`Set ${name} as the default plan?`}
          about="New accounts get this plan. Existing accounts keep their plan."
          label="Set as default"
          cancel="Cancel"
          onConfirm={async () => {
            await save({ is_default: true })
            await refresh()
          }}
          onClose={done}
        />
      )}
      {asked === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Only a plan without users can be deleted."
          label="Delete"
          onConfirm={remove}
          onClose={done}
        />
      )}
    </>
  )
}
