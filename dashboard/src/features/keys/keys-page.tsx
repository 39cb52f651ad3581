import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client'
import { KeyTable } from './key-table'
import { ListPage } from '../../components/list-page'
import { keysQuery, type Key } from './queries'
import { KeySecret } from './key-secret'
import type { KeyChanges } from './edit-key'
import { KeyActions } from './key-actions'
import { NewKey, type NewKeyBody } from './new-key'

interface Secret {
  name: string
  key: string
}

const create = (body: NewKeyBody) => bodyOf(api.POST('/api/account/keys', { body }))

export function KeysPage() {
  const queries = useQueryClient()
  const [secret, setSecret] = useState<Secret>()
  const show = (created: Secret) => {
    setSecret(created)
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
              onCreated={(created) => {
                close()
                show(created)
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
        <KeySecret name={secret.name} secret={secret.key} onClose={() => setSecret(undefined)} />
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
  const params = { path: { id } }
  const change = async (body: KeyChanges) => {
    await api.PATCH('/api/account/keys/{id}', { params, body })
    await queries.invalidateQueries(keysQuery)
  }
  const remove = async () => {
    await api.DELETE('/api/account/keys/{id}', { params })
    await queries.invalidateQueries(keysQuery)
  }
  const rotate = async (overlap_seconds: number) => {
    const body = { overlap_seconds }
    const { key } = await bodyOf(api.POST('/api/account/keys/{id}/rotate', { params, body }))
    // Shown even if reloading the list fails: the secret exists nowhere else.
    onSecret({ name, key })
    void queries.invalidateQueries(keysQuery)
  }
  return <KeyActions one={one} change={change} remove={remove} rotate={rotate} />
}
