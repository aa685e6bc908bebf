import assert from 'node:assert/strict'
import { test } from 'node:test'
import { surfaceOf } from './surface.ts'

test('each path has the error shape of its surface', () => {
  const expected = {
    '/api/v1/instance': 'instance',
    '/api/v1/instance/rules': 'instance',
    '/api/v1/admin/domain_blocks': 'instance',
    '/api/v1/anything': 'instance',
    '/api/v2/instance': 'instance',
    '/api/v2/instance/': 'instance',
    '/api/v2/instance.json': 'instance',
    '/api/v2/instances': 'users',
    '/api/v2/users': 'users',
    '/api/v2': 'users',
    '/v2/projects': 'knowledge',
    '/v2': 'knowledge',
    '/v2x': 'platform',
    '/namespaces': 'callbacks',
    '/namespaces/default/callbacks': 'callbacks',
    '/api/v1/namespaces/default': 'callbacks',
    '/api/v1/namespacesx': 'instance',
    '/livez': 'platform',
    '/api/v3': 'platform',
    '': 'platform',
  }
  for (const [path, surface] of Object.entries(expected)) assert.equal(surfaceOf(path), surface, path)
})
