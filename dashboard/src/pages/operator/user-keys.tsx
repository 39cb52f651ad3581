import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { admin, json } from '../../api'
import { Confirm } from '../../components/confirm'
import { KeyTable } from '../../components/key-table'
import { Loaded } from '../../components/loaded'
import type { Key } from '../../keys'
import { useRefresh } from '../../operator/refresh'
import { userKeysQuery, type User } from '../../operator/users'
import { KeySecret } from '../key-secret'
import { NewKey } from '../new-key'

interface Secret {
  name: string
  key: string
}

/** The API keys of a user, to create and to revoke. */
export function UserKeys({ user }: { user: User }) {
  const { id, display_name: name } = user
  const [isOpen, { open, close }] = useDisclosure()
  const [secret, setSecret] = useState<Secret>()
  const refresh = useRefresh()
  const create = async (fields: object) =>
    (await admin.users[':id'].keys.$post({ param: { id } }, json(fields))).json()
  const show = (made: Secret) => {
    close()
    setSecret(made)
    void refresh()
  }
  return (
    <Stack gap="sm">
      <Group justify="flex-end">
        <Button onClick={open}>New key</Button>
      </Group>
      <Loaded query={useQuery(userKeysQuery(id))}>
        {(keys) =>
          keys.length === 0 ? (
            <Text size="sm" c="dimmed">
              {name} has no keys.
            </Text>
          ) : (
            <KeyTable keys={keys} actions={(one) => <Revoke userId={id} one={one} />} />
          )
        }
      </Loaded>
      <Modal opened={isOpen} onClose={close} title={`New key for ${name}`}>
        <NewKey create={create} onMade={show} onCancel={close} />
      </Modal>
      {secret && (
        <KeySecret name={secret.name} secret={secret.key} onDone={() => setSecret(undefined)} />
      )}
    </Stack>
  )
}

function Revoke({ userId, one: { id, name } }: { userId: string; one: Key }) {
  const [isAsked, setAsked] = useState(false)
  const refresh = useRefresh()
  const revoke = async () => {
    await admin.users[':id'].keys[':key_id'].$delete({ param: { id: userId, key_id: id } })
    await refresh()
  }
  return (
    <>
      <Button
        size="xs"
        color="red"
        variant="light"
        aria-label={`Revoke ${name}`}
        onClick={() => setAsked(true)}
      >
        Revoke
      </Button>
      {isAsked && (
        <Confirm
          question={`Revoke ${name}?`}
          about="Requests with this key are rejected immediately. This cannot be undone."
          label="Revoke"
          onConfirm={revoke}
          onClose={() => setAsked(false)}
        />
      )}
    </>
  )
}
