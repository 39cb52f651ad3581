import { Menu, Modal, Table, Text } from '@mantine/core'
import { useContext, useState } from 'react'
import { Confirm } from '../../components/confirm'
import { ListTable } from '../../components/list-table'
import { ReadOnlyForms } from '../../components/read-only-forms'
import { RowMenu } from '../../components/row-menu'
import { When } from '../../components/when'
import { count } from '../../format/figures'
import { DirectoryForm } from './directory-form'
import { DirectoryToken } from './directory-token'
import type { DirectoryActions, DirectoryWithToken, ScimDirectory } from './queries'

interface TableProps {
  directories: readonly ScimDirectory[]
  actions: DirectoryActions
}

/** SCIM directories with their users, domains and groups. */
export const DirectoryTable = ({ directories, actions }: TableProps) => (
  <ListTable
    columns={[
      'Directory',
      'Domains',
      'Groups',
      { name: 'Users', isNumber: true },
      'Last used',
      { name: 'Actions', isHidden: true },
    ]}
    minWidth={760}
  >
    {directories.map((directory) => (
      <Table.Tr key={directory.id}>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          <Text size="sm" fw={500}>
            {directory.name}
          </Text>
          {actions.isOperator && (
            <Text size="xs" c="dimmed">
              {directory.organization_id ?? 'Installation'}
            </Text>
          )}
        </Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          {directory.domains.join(', ') || 'None yet: an operator lists them'}
        </Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          {directory.groups.map(({ group_name: name, role }) => `${name}: ${role}`).join(', ') ||
            'None'}
        </Table.Td>
        <Table.Td ta="right">{count(directory.user_count)}</Table.Td>
        <Table.Td>
          {directory.last_used_at === null ? 'Never' : <When at={directory.last_used_at} />}
        </Table.Td>
        <Table.Td ta="right">
          <Actions directory={directory} actions={actions} />
        </Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)

type Dialog = 'change' | 'token' | 'delete'

function Actions({ directory, actions }: { directory: ScimDirectory; actions: DirectoryActions }) {
  const [dialog, setDialog] = useState<Dialog>()
  const [replaced, setReplaced] = useState<DirectoryWithToken>()
  const isReadOnly = useContext(ReadOnlyForms)
  const close = () => setDialog(undefined)
  const { id, name } = directory
  const { change, replaceToken, remove, isOperator } = actions
  if (isReadOnly) return null
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item onClick={() => setDialog('change')}>Edit</Menu.Item>
        {replaceToken && <Menu.Item onClick={() => setDialog('token')}>Replace token</Menu.Item>}
        {remove && (
          <Menu.Item color="red" onClick={() => setDialog('delete')}>
            Delete
          </Menu.Item>
        )}
      </RowMenu>
      <Modal opened={dialog === 'change'} onClose={close} title={`Edit ${name}`} size="lg">
        <DirectoryForm
          directory={directory}
          isOperator={isOperator}
          save={async (fields) => {
            await change(id, fields)
            close()
          }}
          onCancel={close}
        />
      </Modal>
      {dialog === 'token' && replaceToken && (
        <Confirm
          question={`Replace the token of ${name}?`}
          about="The current token is invalid at once, until the identity provider has the new one."
          label="Replace token"
          onConfirm={async () => setReplaced(await replaceToken(id))}
          onClose={close}
        />
      )}
      {replaced && <DirectoryToken directory={replaced} onClose={() => setReplaced(undefined)} />}
      {dialog === 'delete' && remove && (
        <Confirm
          question={`Delete ${name}?`}
          about="Its token is invalid at once. Accounts and memberships that it has made stay as they are."
          label="Delete"
          onConfirm={async () => void (await remove(id))}
          onClose={close}
        />
      )}
    </>
  )
}
