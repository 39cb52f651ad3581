import { Menu } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, json } from '../api'
import { Confirm } from '../components/confirm'
import { isExpired, KeyTable } from '../components/key-table'
import { ListPage } from '../components/list-page'
import { RowMenu } from '../components/row-menu'
import { keysQuery, type Key } from '../keys'
import { KeySecret } from './key-secret'
import { NewKey } from './new-key'

interface Secret {
  name: string
  key: string
}

async function create(fields: object) {
  const answer = await api.account.keys.$post(undefined, json(fields))
  return answer.json()
}

export function KeysPage() {
  const queries = useQueryClient()
  const [secret, setSecret] = useState<Secret>()
  const show = (made: Secret) => {
    setSecret(made)
    void queries.invalidateQueries(keysQuery)
  }
  return (
    <>
      <ListPage
        title="API keys"
        about="Authenticate requests to the API. A key is shown once, when you create it."
        query={useQuery(keysQuery)}
        empty={{
          title: 'No API keys yet',
          text: 'Clients send their key with every request. Create one key per client, so that you can revoke each one separately.',
        }}
        add={{
          label: 'New key',
          form: (close) => (
            <NewKey
              create={create}
              onMade={(made) => {
                close()
                show(made)
              }}
              onCancel={close}
            />
          ),
        }}
      >
        {(keys) => (
          <KeyTable keys={keys} actions={(one) => <Actions one={one} onSecret={setSecret} />} />
        )}
      </ListPage>
      {secret && (
        <KeySecret name={secret.name} secret={secret.key} onDone={() => setSecret(undefined)} />
      )}
    </>
  )
}

interface ActionsProps {
  one: Key
  onSecret: (secret: Secret) => void
}

function Actions({ one, onSecret }: ActionsProps) {
  const { id, name } = one
  const queries = useQueryClient()
  const [asked, setAsked] = useState<'delete' | 'rotate'>()
  const done = () => setAsked(undefined)
  const param = { id }
  const remove = async () => {
    await api.account.keys[':id'].$delete({ param })
    await queries.invalidateQueries(keysQuery)
  }
  const rotate = async () => {
    const { key } = await (await api.account.keys[':id'].rotate.$post({ param })).json()
    // Shown even if reloading the list fails: the secret exists nowhere else.
    onSecret({ name, key })
    void queries.invalidateQueries(keysQuery)
  }
  return (
    <>
      <RowMenu name={name}>
        {!isExpired(one) && <Menu.Item onClick={() => setAsked('rotate')}>Rotate</Menu.Item>}
        <Menu.Item color="red" onClick={() => setAsked('delete')}>
          Delete
        </Menu.Item>
      </RowMenu>
      {asked === 'rotate' && (
        <Confirm
          question={`Rotate ${name}?`}
          about="The key gets a new secret and the old one stops working immediately. Permissions, limits and expiry stay."
          label="Rotate"
          onConfirm={rotate}
          onClose={done}
        />
      )}
      {asked === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Requests with this key are rejected immediately. This cannot be undone."
          label="Delete"
          onConfirm={remove}
          onClose={done}
        />
      )}
    </>
  )
}
