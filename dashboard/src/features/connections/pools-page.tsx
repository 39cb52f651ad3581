import { Badge, Group, Menu, Modal, Switch, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { api } from '../../api/client'
import { ownOrganizationsQuery } from '../collections/queries'
import { Confirm } from '../../components/confirm'
import { ConnectionTests, useConnectionTests } from './connection-tests'
import { ListPage } from '../../components/list-page'
import { Problem } from '../../components/problem'
import { RowMenu } from '../../components/row-menu'
import { connectionsQuery, statusColors, type Connection } from './queries'
import { poolsQuery, poolStrategies, type Pool } from './pool-queries'
import { useSubmit } from '../../components/use-submit'
import { PoolForm } from './pool-form'

export const PoolsPage = () => (
  <ListPage
    title="Connection pools"
    about="Balance load across several connections of one provider. A pool replaces its members in routing."
    query={useQuery(poolsQuery)}
    empty={{
      title: 'No pools yet',
      text: 'If you have several keys of one provider, group their connections into a pool to spread requests over them.',
    }}
    add={{ label: 'New pool', form: (close) => <PoolForm onClose={close} /> }}
  >
    {(pools) => <PoolTable pools={pools} />}
  </ListPage>
)

function PoolTable({ pools }: { pools: readonly Pool[] }) {
  const { data: connections = [] } = useQuery(connectionsQuery)
  const { data: managed = [] } = useQuery(ownOrganizationsQuery)
  const mayChange = ({ organization_id: id }: Pool) =>
    id === null || managed.some((organization) => organization.id === id)
  return (
    <ListTable
      columns={[
        'Name',
        'Provider',
        { name: 'Connections', position: 'wide' },
        'Strategy',
        { name: 'Enabled', position: 'aside' },
        { name: 'Actions', isHidden: true },
      ]}
      minWidth={720}
    >
      {pools.map((pool) => (
        <PoolRow
          key={pool.id}
          pool={pool}
          members={pool.connection_ids.flatMap((id) => connections.filter((one) => one.id === id))}
          isReadOnly={!mayChange(pool)}
        />
      ))}
    </ListTable>
  )
}

interface RowProps {
  pool: Pool
  /** In order. */
  members: readonly Connection[]
  isReadOnly: boolean
}

function PoolRow({ pool, members, isReadOnly }: RowProps) {
  const queries = useQueryClient()
  const turning = useSubmit(async (enabled: boolean) => {
    await api.PUT('/api/connection-pools/{id}', {
      params: { path: { id: pool.id } },
      body: { enabled },
    })
    await queries.invalidateQueries(poolsQuery)
  })
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Group gap={6}>
          <Text fw={500} size="sm">
            {pool.name}
          </Text>
          {pool.scope === 'organization' && (
            <Badge variant="outline" size="sm" color="gray">
              organization
            </Badge>
          )}
        </Group>
        <Problem error={turning.error} />
      </Table.Td>
      <Table.Td>{pool.provider}</Table.Td>
      <Table.Td>
        <Group gap={4}>
          {members.map(({ id, name, status }) => (
            <Badge key={id} variant="dot" color={statusColors[status]} tt="none" title={status}>
              {name}
            </Badge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td>{poolStrategies[pool.strategy][0]}</Table.Td>
      <Table.Td>
        <Switch
          checked={pool.enabled}
          disabled={isReadOnly || turning.isBusy}
          onChange={(event) => void turning.submit(event.currentTarget.checked)}
          aria-label={`Enable ${pool.name}`}
        />
      </Table.Td>
      <Table.Td ta="right">{!isReadOnly && <Actions pool={pool} members={members} />}</Table.Td>
    </Table.Tr>
  )
}

function Actions({ pool: { id, name }, pool, members }: Omit<RowProps, 'isReadOnly'>) {
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'change' | 'delete'>()
  const { tests, start, close } = useConnectionTests()
  const closeDialog = () => setDialog(undefined)
  const remove = async () => {
    await api.DELETE('/api/connection-pools/{id}', { params: { path: { id } } })
    await queries.invalidateQueries(poolsQuery)
  }
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item onClick={() => void start(members)}>Test</Menu.Item>
        <Menu.Item onClick={() => setDialog('change')}>Edit</Menu.Item>
        <Menu.Item color="red" onClick={() => setDialog('delete')}>
          Delete
        </Menu.Item>
      </RowMenu>
      <ConnectionTests tests={tests} onClose={close} />
      <Modal opened={dialog === 'change'} onClose={closeDialog} title={`Edit ${name}`}>
        <PoolForm pool={pool} onClose={closeDialog} />
      </Modal>
      {dialog === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Its connections stay and are routed individually again."
          label="Delete"
          onConfirm={remove}
          onClose={closeDialog}
        />
      )}
    </>
  )
}
