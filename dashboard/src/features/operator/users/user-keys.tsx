import { Button, Group, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf, type Schemas } from '../../../api/client'
import type { KeyChanges } from '../../keys/edit-key'
import { KeyActions } from '../../keys/key-actions'
import { KeyTable } from '../../keys/key-table'
import { Permitted } from '../../../components/permitted'
import { ResourceList } from '../../../components/resource-list'
import { allRows } from '../../../api/paging'
import type { Key } from '../../keys/queries'
import { useRefresh } from '../refresh'
import { userKeysQuery, type User } from './queries'
import { KeySecret } from '../../keys/key-secret'
import { NewKey } from '../../keys/new-key'

interface Secret {
  name: string
  key: string
}

/** The API keys of a user, to create, change and revoke. */
export function UserKeys({ user }: { user: User }) {
  const { id, display_name: name } = user
  const [isOpen, { open, close }] = useDisclosure()
  const [secret, setSecret] = useState<Secret>()
  const refresh = useRefresh()
  const create = (body: Schemas['NewUserKey']) =>
    bodyOf(api.POST('/api/admin/users/{id}/keys', { params: { path: { id } }, body }))
  const show = (created: Secret) => {
    close()
    setSecret(created)
    void refresh()
  }
  return (
    <Stack gap="sm">
      <Permitted to="POST /api/admin/users/{id}/keys">
        <Group justify="flex-end">
          <Button onClick={open}>New key</Button>
        </Group>
      </Permitted>
      <ResourceList
        query={useQuery(userKeysQuery(id))}
        rows={(keys) => allRows(keys)}
        plural="keys"
        empty={`${name} has no keys.`}
      >
        {(keys) => (
          <KeyTable
            keys={keys}
            actions={(one) => (
              <Permitted to="PUT /api/admin/users/{id}/keys/{key_id}">
                <Actions userId={id} one={one} />
              </Permitted>
            )}
          />
        )}
      </ResourceList>
      <Modal opened={isOpen} onClose={close} title={`New key for ${name}`}>
        <NewKey create={create} onCreated={show} onCancel={close} />
      </Modal>
      {secret && (
        <KeySecret name={secret.name} secret={secret.key} onClose={() => setSecret(undefined)} />
      )}
    </Stack>
  )
}

function Actions({ userId, one }: { userId: string; one: Key }) {
  const refresh = useRefresh()
  const params = { path: { id: userId, key_id: one.id } }
  const change = async (body: KeyChanges) => {
    await api.PUT('/api/admin/users/{id}/keys/{key_id}', { params, body })
    await refresh()
  }
  const revoke = async () => {
    await api.DELETE('/api/admin/users/{id}/keys/{key_id}', { params })
    await refresh()
  }
  return <KeyActions one={one} change={change} remove={revoke} removal="Revoke" />
}
