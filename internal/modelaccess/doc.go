// Package modelaccess lets plugins see and ask the models of a host: it stands behind [model.Facts] and [model.Clients].
//
// An [Access] follows which thread is the active one and describes the model that is in force at each read. It makes clients
// when somebody reads them, beside those of turns, and drops them when the model is another one. What a plugin gets of a
// client is a proxy that holds no key, names the host's model whatever the request says, and refuses once the generation of
// the plugin has stopped.
//
// [Module] puts an access into an fx app: plugins share the facts, each generation has clients of its own, and asking for
// them makes the note PluginModelClients. [Access.Complete] is for parts of the host that have a question to the session's
// model.
package modelaccess
